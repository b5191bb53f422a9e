"""Where the event loop leaves records and the writer thread finds them.

Leaving a record costs the loop as little as can be: whatever needs more than a look at it is for
the writer.  The order of submitting is the order in the log.  What waits is bounded; what does
not fit is refused, never dropped.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .clock import Clock
from .failure import LedgerBusy, LedgerFailed
from .record import Closing, Record, weight


class Receipt(msgspec.Struct, frozen=True):
    """The proof of purchase: the record's index and its leaf hash, 32 bytes."""

    n: int
    leaf: bytes


class Entry(msgspec.Struct, gc=False):
    """A record on its way to the disk; the writer numbers it and makes its line."""

    record: Record
    future: asyncio.Future[Receipt] | None
    """None for records of the log about itself."""
    t2: int
    """When it was taken, microseconds UTC."""
    size: int = 0
    """Its share of `Limits.bytes`; see `record.weight`."""
    n: int = -1
    line: bytes = b""
    leaf: bytes = b""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds and paces of a ledger."""

    records: int = 8192
    bytes: int = 64 << 20
    """Records, and bytes of memory by estimate, that may wait for the disk; completions may take
    as much again."""
    floor_s: float = 0.002
    """Mean time from sync to sync under load; see `pace`."""
    checkpoint_s: float = 1.0
    """Least time from checkpoint to checkpoint."""
    retry_s: float = 1.0
    """Least time between attempts to write a failed log again."""
    segment_bytes: int = 256 << 20


@dataclass(slots=True)
class Missed:
    """What was refused while the log could not be written."""

    count: int = 0
    since: int = 0
    until: int = 0
    """Microseconds UTC."""
    refs: dict[str, None] = field(default_factory=dict)
    """Decisions whose completion was refused; at most `Limits.records`."""


class Inbox:
    """The queue between one event loop and one writer thread."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self.failure = ""
        """Why records are refused; "" while they are taken."""
        self.closing = False
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()  # held for moments only: the event loop waits for it
        self._wake = threading.Lock()
        self._wake.acquire()
        self._idle = False
        self._due = False
        self._entries: list[Entry] = []
        self._count = 0
        self._bytes = 0
        self._missed = Missed()

    def put(self, record: Record, future: asyncio.Future[Receipt], *, soon: bool = True) -> None:
        """Queue a record; unless `soon`, it waits for others or for `hurry`.

        Raises:
            LedgerBusy: if too much waits already.
            LedgerFailed: if the log cannot be written, or is closed.

        """
        size = weight(record)
        # What has begun must be able to end: completions have room where decisions have none.
        times = 2 if isinstance(record, Closing) else 1
        limits = self._limits
        with self._lock:
            if self.failure or self.closing:
                self._miss([record])
                raise LedgerFailed(self.failure or "the log is closed")
            if self._count >= limits.records * times or self._bytes >= limits.bytes * times:
                raise LedgerBusy(f"{self._count} records wait for the disk")
            self._entries.append(Entry(record, future, self._clock.wall_us(), size))
            self._count += 1
            self._bytes += size
            if soon:
                self._rouse()

    def hurry(self) -> None:
        """What waits is to be written now."""
        with self._lock:
            if self._entries:
                self._rouse()

    def own(self, record: Mapping[str, Any]) -> None:
        """Queue a record of the log about itself, whatever waits; for the writer alone."""
        with self._lock:
            self._entries.append(Entry(record, None, self._clock.wall_us()))
            self._due = True

    def wait(self, wait_s: float | None) -> None:
        """Return when something is due or the inbox closes, at the latest after `wait_s`."""
        with self._lock:
            self._idle = not self._due and not self.closing
            if not self._idle:
                self._due = False
                return
        self._wake.acquire(timeout=-1 if wait_s is None else wait_s)
        with self._lock:
            self._idle = self._due = False
            self._wake.acquire(blocking=False)  # released just after the wait had ended

    def take(self) -> list[Entry]:
        """Everything that waits."""
        with self._lock:
            entries, self._entries = self._entries, []
            return entries

    def done(self, told: Sequence[Entry]) -> None:
        """Make room: these, which somebody submitted, wait no more."""
        freed = 0
        for entry in told:
            freed += entry.size
        with self._lock:
            self._count -= len(told)
            self._bytes -= freed

    def fail(self, entries: Sequence[Entry], why: str) -> list[Entry]:
        """Refuse everything from now on; what waited is returned, to be told so."""
        with self._lock:
            lost, self._entries = [*entries, *self._entries], []
            self.failure = why
            self._count = self._bytes = 0
            told = [entry for entry in lost if entry.future is not None]
            if told:
                self._miss([entry.record for entry in told])
            return told

    def forget_missed(self) -> Missed:
        """What was refused so far, to be put on record."""
        with self._lock:
            missed, self._missed = self._missed, Missed()
            return missed

    def remember_missed(self, missed: Missed) -> None:
        """Take it back: it could not be put on record."""
        with self._lock:
            later = self._missed
            missed.count += later.count
            missed.until = later.until or missed.until
            missed.since = missed.since or later.since
            missed.refs.update(later.refs)
            self._missed = missed

    def recovered(self) -> None:
        """Take records again."""
        with self._lock:
            self.failure = ""

    def close(self) -> None:
        """Take no more, and let the writer see it."""
        with self._lock:
            self.closing = True
            self._rouse()

    def _rouse(self) -> None:
        self._due = True
        if self._idle:
            self._idle = False
            self._wake.release()

    def _miss(self, records: Sequence[Record]) -> None:
        missed = self._missed
        missed.count += len(records)
        missed.until = self._clock.wall_us()
        missed.since = missed.since or missed.until
        for record in records:
            if isinstance(record, Closing) and len(missed.refs) < self._limits.records:
                missed.refs[record.ref] = None
