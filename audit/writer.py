"""The writer thread: group commit, second chance after a failure, checkpoints.

A batch is whatever arrived during the last sync, so there is no timer and no delay when idle; the
pace keeps the cost of syncs down when busy.  The event loop is woken once a batch.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from .clock import Clock
from .failure import LedgerFailed
from .inbox import Entry, Inbox, Limits, Missed, Receipt
from .numbering import Numbering
from .pace import Pace
from .record import Closing, Opening
from .recovery import superseded
from .store import Store

Outcome = TypeVar("Outcome", Receipt, Exception)


class Writer:
    """Takes from an inbox and writes to a store until the inbox is closed."""

    def __init__(
        self, store: Store, inbox: Inbox, numbering: Numbering, clock: Clock, limits: Limits
    ) -> None:
        self.trouble = ""
        """Why the newest checkpoint is not on disk; "" if it is."""
        self.unclosed: dict[str, None] = {}
        """Durable decisions without a durable completion."""
        self._store = store
        self._inbox = inbox
        self._numbering = numbering
        self._clock = clock
        self._limits = limits
        self._pace = Pace(limits.floor_s)
        self._published = 0.0
        self._retried = 0.0
        self._broken: dict[str, Any] | None = None
        self._taken: list[Entry] = []
        """Neither durable nor refused yet."""

    def begin(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write the first records and a checkpoint, in the caller's thread.

        Raises:
            OSError: if they are not durable.

        """
        for record in records:
            self._inbox.own(record)
        entries = self._numbered(self._inbox.take())
        self._append(entries)
        self._settled(entries)
        self._store.publish()
        self._published = self._clock.monotonic()

    def run(self) -> None:
        """Work until the inbox is closed; whatever happens, nobody is left waiting."""
        try:
            while not self._inbox.closing:
                self.turn()
            self.finish()
        finally:
            self._fail(self._taken, self._inbox.failure or "the log is closed")
            self._store.close()

    def turn(self) -> None:
        """Wait for records, write them, and sign when it is time."""
        self._inbox.wait(self._wait_s())
        self._pause()
        self._commit(self._inbox.take())
        now = self._clock.monotonic()
        if self._inbox.failure:
            if now - self._retried >= self._limits.retry_s:
                self._revive()
        elif now - self._published >= self._limits.checkpoint_s:
            self._publish()

    def _wait_s(self) -> float | None:
        now = self._clock.monotonic()
        if self._inbox.failure:
            return max(0.0, self._retried + self._limits.retry_s - now)
        if self._store.signed == self._store.tree.size:
            return None
        return max(0.0, self._published + self._limits.checkpoint_s - now)

    def _pause(self) -> None:
        """Keep the pace, and let more records join the batch."""
        rest_s = self._pace.rest_s(self._clock.monotonic())
        if rest_s > 0:
            time.sleep(rest_s)

    def _commit(self, entries: list[Entry]) -> None:
        entries = self._numbered(entries)
        if not entries:
            return
        try:
            whole = self._append(entries)
        except OSError as error:
            self._start_over(entries, error)
            return
        self._settled(entries)
        if not whole:
            self._inbox.own(superseded(self._store.segment, self._store.segment_bytes, "restored"))

    def _numbered(self, entries: list[Entry]) -> list[Entry]:
        """Those that can be written; whoever submitted another is told."""
        self._taken = entries
        ready, faulty = self._numbering.number(entries, self._store.tree.size)
        if faulty:
            self._taken = ready
            self._inbox.done([entry for entry, _ in faulty])
            _call(refuse, [(entry.future, error) for entry, error in faulty if entry.future])
        return ready

    def _append(self, entries: Sequence[Entry]) -> bool:
        self._pace.spend(self._clock.monotonic())
        if self._store.segment_bytes >= self._limits.segment_bytes:
            self._store.roll()
        return self._store.append([e.line for e in entries], [e.leaf for e in entries])

    def _settled(self, entries: list[Entry]) -> None:
        told: list[Entry] = []
        receipts: list[tuple[asyncio.Future[Receipt], Receipt]] = []
        for entry in entries:
            record = entry.record
            if isinstance(record, Opening):
                self.unclosed[record.id] = None
            elif isinstance(record, Closing):
                self.unclosed.pop(record.ref, None)
            elif record["k"] == "llm.abort":
                self.unclosed.pop(record["ref"], None)
            if entry.future is not None:
                told.append(entry)
                receipts.append((entry.future, Receipt(entry.n, entry.leaf)))
        self._inbox.done(told)
        self._taken = []
        _call(settle, receipts)

    def _start_over(self, entries: list[Entry], error: OSError) -> None:
        """The second chance: all that is not acknowledged goes into a new segment."""
        self._abandon(error)
        self._rewrite([], entries)

    def _rewrite(self, more: list[dict[str, Any]], entries: list[Entry]) -> None:
        ahead = [self._broken, *more] if self._broken else more
        # What comes first must not be younger than what was taken before the disk failed.
        t2 = entries[0].t2 if entries else self._clock.wall_us()
        renewed = self._numbered([*(Entry(record, None, t2) for record in ahead), *entries])
        try:
            self._append(renewed)
        except OSError as error:
            self._abandon(error)
            self._retried = self._clock.monotonic()
            self._fail(
                renewed, f"the log cannot be written: {error.strerror or 'no reason given'}"
            )
            return
        self._broken = None
        self._settled(renewed)

    def _revive(self) -> None:
        missed = self._inbox.forget_missed()
        self._rewrite(self._amends(missed), [])
        if self._broken is None:
            self._inbox.recovered()
        else:
            self._inbox.remember_missed(missed)

    def _amends(self, missed: Missed) -> list[dict[str, Any]]:
        """What a log that is written again says of the time when it was not."""
        if not missed.count:
            return []
        since, until = missed.since, missed.until
        gap = {"k": "log.gap", "count": missed.count, "since": since, "until": until}
        return [gap, *(aborted(ref, "unrecorded") for ref in missed.refs if ref in self.unclosed)]

    def _abandon(self, error: OSError) -> None:
        name, kept = self._store.abandon()
        if self._broken is None or kept:
            self._broken = superseded(name, kept, "failed") | {"err": error.errno or 0}

    def _publish(self) -> None:
        self._published = self._clock.monotonic()
        if self._store.signed == self._store.tree.size:
            return
        try:
            self._store.publish()
        except OSError as error:
            self.trouble = f"no checkpoint can be written: {error.strerror or 'no reason given'}"
        else:
            self.trouble = ""

    def finish(self) -> None:
        """Write what still waits, end what is still open, say goodbye, sign."""
        if self._inbox.failure:
            self._revive()
        self._commit(self._inbox.take())
        if self._inbox.failure:
            return
        for ref in self.unclosed:
            self._inbox.own(aborted(ref, "closed"))
        self._inbox.own({"k": "log.close"})
        self._commit(self._inbox.take())
        self._publish()

    def _fail(self, entries: list[Entry], why: str) -> None:
        told = self._inbox.fail(entries, why)
        self._taken = []
        for entry in told:
            self._numbering.disown(entry.record)
        _call(refuse, [(entry.future, LedgerFailed(why)) for entry in told if entry.future])


def aborted(ref: str, why: str) -> dict[str, Any]:
    """The record that ends a decision whose completion is not known."""
    return {"k": "llm.abort", "ref": ref, "st": "aborted", "why": why}


def settle(receipts: list[tuple[asyncio.Future[Receipt], Receipt]]) -> None:
    """Tell whoever still waits that the records are durable; runs in the event loop."""
    for future, receipt in receipts:
        if not future.done():
            future.set_result(receipt)


def refuse(faults: list[tuple[asyncio.Future[Receipt], Exception]]) -> None:
    """Tell whoever still waits that the records are not durable; runs in the event loop."""
    for future, fault in faults:
        if not future.done():
            future.set_exception(fault)
            future.exception()  # a caller that never looks is no reason to complain


def _call(
    tell: Callable[[list[tuple[asyncio.Future[Receipt], Outcome]]], None],
    outcomes: list[tuple[asyncio.Future[Receipt], Outcome]],
) -> None:
    """Run `tell` in the loop of those who wait, if there are any: one wake-up for all."""
    if not outcomes:
        return
    try:
        outcomes[0][0].get_loop().call_soon_threadsafe(tell, outcomes)
    except RuntimeError:
        return  # the loop has ended, and with it everybody who waited
