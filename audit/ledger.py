"""The audit log as the proxy sees it: submit a record, wait until it is durable.

One ledger per log and process.  `submit` only queues; encoding, hashing and everything that
touches the disk happen in a thread of the ledger's own, in batches.
A client that leaves may cancel its wait; the record is written all the same.

A sync is dear, so one is made when somebody waits for it, and then once the loop has got through
what it had to do: others have come to wait meanwhile.  A record that nobody waits for goes along,
or follows after LAZY_S.
"""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any, Self

from .clock import Clock, SystemClock
from .failure import LedgerFailed
from .files import Files, PosixFiles
from .inbox import Inbox, Limits, Receipt
from .numbering import Numbering
from .pace import step_back
from .record import Record, new_id
from .store import Store
from .writer import Writer, aborted

LAZY_S = 0.02
"""How long a record may wait for others that is not wanted at once: less than engines take to say
their first word, so that it has been synced by then."""


class Ledger:
    """An open audit log.  Only `open` makes one; `close` MUST be awaited for a clean end."""

    def __init__(self, store: Store, inbox: Inbox, writer: Writer) -> None:
        self.vkey = store.vkey
        """The key text that checks this log's checkpoints; keep it elsewhere too."""
        self._inbox = inbox
        self._writer = writer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hurried = False
        self._lazy: asyncio.TimerHandle | None = None
        self._thread = threading.Thread(
            target=_work, args=(writer,), name="tidegate-audit", daemon=True
        )
        self._thread.start()

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        origin: str,
        clock: Clock | None = None,
        files: Files | None = None,
        limits: Limits | None = None,
    ) -> Self:
        """Begin a log in `directory`, or recover it and go on; blocks.

        `origin` names the log for good: 1 to 255 characters, no space, no plus sign.

        Raises:
            LedgerLocked: if another process writes it.
            LedgerDamaged: if it contradicts what was signed; move it away, keep it, verify it.
            LedgerFailed: if it cannot be written, or belongs to another origin.
            NoteError: if `origin` is not a name that a checkpoint can carry.

        """
        clock = clock or SystemClock()
        limits = limits or Limits()
        try:
            began = clock.wall_us()
            store, found, log = Store.open(directory, files or PosixFiles(), origin, began)
        except OSError as error:
            raise LedgerFailed(f"{directory} cannot be opened: {error.strerror}") from error
        inbox = Inbox(clock, limits)
        writer = Writer(store, inbox, Numbering(log, limits.records), clock, limits)
        first: list[dict[str, Any]] = []
        if not found.tree.size:
            first.append({"k": "log.genesis", "origin": origin, "vkey": store.vkey})
        first += [*found.events, {"k": "log.open", "inc": new_id(), "pid": os.getpid()}]
        first += [aborted(ref, "crashed") for ref in found.unclosed]
        try:
            writer.begin(first)
        except OSError as error:
            store.close()
            raise LedgerFailed(f"{directory} cannot be written: {error.strerror}") from error
        return cls(store, inbox, writer)

    def submit(self, record: Record, *, soon: bool = True) -> asyncio.Future[Receipt]:
        """Take a record; the future resolves when it is durable.

        Unless `soon`, that may be up to LAZY_S later, or earlier by `hurry`.

        MUST be called from one running loop, always the same.  The record is the log's from now
        on and MUST NOT be changed, nor anything in it.

        The future raises RecordError if the record cannot be written in canonical form (which
        concerns no other but its own completion), and LedgerFailed if it could not be made
        durable.  It may be cancelled, which does not recall the record.

        Raises:
            LedgerBusy: if too many records wait already.
            LedgerFailed: if the log cannot be written now.

        """
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[Receipt] = loop.create_future()
        self._inbox.put(record, future, soon=False)
        if soon:
            self.hurry()
        elif self._lazy is None and not self._hurried:
            self._lazy = loop.call_later(LAZY_S, self._now)
        return future

    def hurry(self) -> None:
        """Somebody waits for a record that was submitted: write what there is, in a moment."""
        if not self._hurried and self._loop is not None:
            self._hurried = True
            self._loop.call_soon(self._now)

    def _now(self) -> None:
        self._hurried = False
        if self._lazy is not None:
            self._lazy.cancel()
            self._lazy = None
        self._inbox.hurry()

    async def append(self, record: Record) -> Receipt:
        """Make a record durable; raises what `submit` and its future raise."""
        return await self.submit(record)

    @property
    def healthy(self) -> bool:
        """Tell whether records are taken and checkpoints are current."""
        return not self.failure

    @property
    def failure(self) -> str:
        """Why the log is not healthy, in a sentence for operators; "" if it is."""
        if self._inbox.closing:
            return "the log is closed"
        return self._inbox.failure or self._writer.trouble

    async def close(self) -> None:
        """Write what waits, end the log cleanly, sign it, and unlock it.  May be called again."""
        if self._lazy is not None:
            self._lazy.cancel()
        self._inbox.close()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)


def _work(writer: Writer) -> None:
    step_back()
    writer.run()
