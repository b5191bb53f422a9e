"""Where the event loop leaves records and the writer thread finds them.

Numbers are given here, in order of arrival, under one lock; so the order of submitting is the
order in the log.  What waits is bounded; what does not fit is refused, never dropped.
"""

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from .clock import Clock
from .failure import LedgerBusy, LedgerFailed
from .frame import framed, record_of
from .record import Closing, Opening, Record, Stamp, encode
from .tree import leaf_hash


class Receipt(msgspec.Struct, frozen=True):
    """The proof of purchase: the record's index and its leaf hash, 32 bytes."""

    n: int
    leaf: bytes


class Entry(msgspec.Struct):
    """A numbered record on its way to the disk."""

    n: int
    line: bytes
    leaf: bytes
    opens: str = ""
    """The id of a decision."""
    closes: str = ""
    """The id of the decision that a completion ends."""
    future: asyncio.Future[Receipt] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds and paces of a ledger."""

    records: int = 8192
    bytes: int = 64 << 20
    """Records and bytes that may wait for the disk; completions may take as much again."""
    floor_s: float = 0.004
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

    def __init__(self, log: str, first: int, clock: Clock, limits: Limits) -> None:
        self.failure = ""
        """Why records are refused; "" while they are taken."""
        self.closing = False
        self._log = log
        self._next = first
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        self._wake = threading.Lock()
        self._wake.acquire()
        self._idle = False
        self._entries: list[Entry] = []
        self._count = 0
        self._bytes = 0
        self._missed = Missed()

    def put(self, record: Record, future: asyncio.Future[Receipt]) -> None:
        """Number, encode and queue a record.

        Raises:
            RecordError: see `record.encode`.
            LedgerBusy: if too much waits already.
            LedgerFailed: if the log cannot be written, or is closed.

        """
        with self._lock:
            if self.failure or self.closing:
                self._miss([record.ref] if isinstance(record, Closing) else [])
                raise LedgerFailed(self.failure or "the log is closed")
            # What has begun must be able to end: completions have room where decisions have none.
            times = 2 if isinstance(record, Closing) else 1
            limits = self._limits
            if self._count >= limits.records * times or self._bytes >= limits.bytes * times:
                raise LedgerBusy(f"{self._count} records wait for the disk")
            entry = self._entry(record)
            entry.future = future
            self._queue(entry)

    def own(self, record: Mapping[str, Any]) -> None:
        """Queue a record of the log about itself, whatever waits."""
        with self._lock:
            self._queue(self._entry(record))

    def wait(self, wait_s: float | None) -> None:
        """Return when something waits or the inbox closes, at the latest after `wait_s`."""
        with self._lock:
            self._idle = not self._entries and not self.closing
            if not self._idle:
                return
        self._wake.acquire(timeout=-1 if wait_s is None else wait_s)
        with self._lock:
            self._idle = False
            self._wake.acquire(blocking=False)  # released just after the wait had ended

    def take(self) -> list[Entry]:
        """Everything that waits."""
        with self._lock:
            entries, self._entries = self._entries, []
            return entries

    def done(self, entries: Sequence[Entry]) -> None:
        """Make room: these wait no more."""
        freed = sum(len(entry.line) for entry in entries)
        with self._lock:
            self._count -= len(entries)
            self._bytes -= freed

    def restart(
        self, first: int, ahead: Iterable[Mapping[str, Any]], entries: Sequence[Entry]
    ) -> list[Entry]:
        """Number again from `first`: new records, then `entries`, then all that waits."""
        with self._lock:
            waiting, self._entries = [*entries, *self._entries], []
            self._next = first
            fresh = [self._entry(record) for record in ahead]
            self._count += len(fresh)
            for entry in waiting:
                self._renumber(entry)
            renewed = fresh + waiting
            self._bytes = sum(len(entry.line) for entry in renewed)
            return renewed

    def fail(self, first: int, entries: Sequence[Entry], why: str) -> list[Entry]:
        """Refuse everything from now on; what waited is returned, to be told so."""
        with self._lock:
            lost, self._entries = [*entries, *self._entries], []
            self.failure = why
            self._next = first
            self._count = self._bytes = 0
            told = [entry for entry in lost if entry.future]
            if told:
                self._miss([entry.closes for entry in told])
                self._missed.count += len(told) - 1
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

    def _entry(self, record: Record) -> Entry:
        encoded = encode(record, Stamp(self._next, self._log, self._clock.wall_us()))
        leaf = leaf_hash(encoded)
        entry = Entry(self._next, framed(encoded, leaf), leaf)
        if isinstance(record, Opening):
            entry.opens = record.id
        elif isinstance(record, Closing):
            entry.closes = record.ref
        elif record["k"] == "llm.abort":
            entry.closes = record["ref"]
        self._next += 1
        return entry

    def _renumber(self, entry: Entry) -> None:
        fields = orjson.loads(record_of(entry.line))
        fields["n"] = entry.n = self._next
        # Its values were admitted before; it must not be refused now for one more digit.
        encoded = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
        entry.leaf = leaf_hash(encoded)
        entry.line = framed(encoded, entry.leaf)
        self._next += 1

    def _queue(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._count += 1
        self._bytes += len(entry.line)
        self._rouse()

    def _rouse(self) -> None:
        if self._idle:
            self._idle = False
            self._wake.release()

    def _miss(self, refs: Iterable[str]) -> None:
        missed = self._missed
        missed.count += 1
        missed.until = self._clock.wall_us()
        missed.since = missed.since or missed.until
        for ref in refs:
            if ref and len(missed.refs) < self._limits.records:
                missed.refs[ref] = None
