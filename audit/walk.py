"""Whether the records are all there, once each, in order, and as they were written.

Reads lines in the order of the segments and compares each record's index with the one that is
due.  What can be told from the frames and indices alone is told here, to the record; what only
the tree shows (a change with everything recomputed) is told by the checkpoints in `verify`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator

from .frame import unframed
from .layout import Identity, Segment, with_stops
from .record import Head
from .recovery import fields_of, head_of
from .report import Fault, Report
from .tree import Frontier

_RECENT = 4096
"""Leaves kept to tell a copied record from a made-up one."""
_MAX_GAPS = 1000


class Walk:
    """One pass over a log's segments."""

    def __init__(self, identity: Identity, signed: int, report: Report) -> None:
        self.tree = Frontier()
        self.due = 0
        """The index of the next record."""
        self.whole = True
        """No record was changed, lost or moved so far, as far as frames and indices tell."""
        self._identity = identity
        self._signed = signed
        self._report = report
        self._gaps: OrderedDict[int, int] = OrderedDict()
        self._recent: OrderedDict[int, bytes] = OrderedDict()
        self._bad = 0
        self._before: tuple[str, int, int] = ("", 0, 0)

    def run(self, segments: list[Segment], follow: Callable[[Head], None]) -> None:
        """Read all segments; `follow` sees the head of each record that is in its place."""
        for segment, stop in with_stops(segments):
            if segment.first > self.due:
                detail = f"{segment.first - self.due} records, before {segment.path.name}"
                self._broken(Fault.MISSING, self.due, segment.first, detail)
                self.due = segment.first
            self._segment(segment, stop, follow)
        for low, high in self._gaps.items():
            self._report.add(Fault.DELETE, _places(low, high), "removed")

    def _segment(self, segment: Segment, stop: int | None, follow: Callable[[Head], None]) -> None:
        lines, offset = segment.lines(), 0
        for line in lines:
            if self.due == stop:
                self._rest(segment, offset, line, lines)
                return
            offset += len(line)
            head = self._read(line)
            if head is not None:
                self._answer(line, head)
                follow(head)
        if self._bad:
            self._end_in_bad(segment, stop)

    def _read(self, line: bytes) -> Head | None:
        """Judge one line; its head if the record is the one that is due."""
        leaf = unframed(line)
        head = head_of(line) if leaf else None
        if leaf is None or head is None:
            self._bad += 1
            return None
        if head.log != self._identity.log:
            self._report.add(Fault.SPLICE, f"record {self.due}", "belongs to another log")
            self.whole = False
            return None
        if self._bad:
            self._end_bad(head.n)
        if head.n < self.due:
            self._again(head.n, leaf)
            return None
        if head.n > self.due:
            self._skip(head.n)
        self._take(head.n, leaf)
        if head.n == 0:
            self._genesis(line)
        return head

    def _take(self, n: int, leaf: bytes) -> None:
        self.due = n + 1
        self.tree.add(leaf)
        self._recent[n] = leaf
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    def _skip(self, n: int) -> None:
        self.whole = False
        if len(self._gaps) < _MAX_GAPS:
            self._gaps[self.due] = n
        else:
            self._report.add(Fault.DELETE, _places(self.due, n), "removed, or moved")

    def _again(self, n: int, leaf: bytes) -> None:
        """A record below the one that is due: moved here, copied here, or made up."""
        place = f"record {n}"
        for low, high in self._gaps.items():
            if low <= n < high:
                self._report.add(Fault.REORDER, place, f"stands before record {self.due}")
                del self._gaps[low]
                if low < n:
                    self._gaps[low] = n
                if n + 1 < high:
                    self._gaps[n + 1] = high
                return
        if self._recent.get(n) == leaf:
            self._report.add(Fault.DUPLICATE, place, f"again before record {self.due}")
        else:
            self._report.add(Fault.INSERT, place, f"another one, before record {self.due}")

    def _end_bad(self, n: int) -> None:
        """Lines that are no records came before record `n`."""
        if n > self.due:
            self._broken(Fault.EDIT, self.due, n, "not as it was written")
            self.due = n
        else:
            self._report.add(Fault.INSERT, f"record {self.due}", "something else stands before it")
        self._bad = 0

    def _end_in_bad(self, segment: Segment, stop: int | None) -> None:
        name = segment.path.name
        if stop is not None and stop > self.due:
            self._end_bad(stop)
        elif self.due < self._signed:
            self._broken(Fault.EDIT, self.due, self.due + 1, "not as it was written")
        else:
            self._report.add(Fault.TORN, name, f"an unfinished write after record {self.due - 1}")
        self._bad = 0

    def _rest(self, segment: Segment, offset: int, line: bytes, rest: Iterator[bytes]) -> None:
        """What stands behind the last record that counts: the next segment must answer for it."""
        size = offset + len(line) + sum(map(len, rest))
        self._before = (segment.path.name, offset, size - offset)
        if offset == 0:
            self._report.add(Fault.TORN, segment.path.name, "given up before its first record")
            self._before = ("", 0, 0)

    def _answer(self, line: bytes, head: Head) -> None:
        name, kept, size = self._before
        self._before = ("", 0, 0)
        said: dict[str, object] = {}
        if head.k in ("log.recovered", "log.gap"):
            said = fields_of(line)
            fault = Fault.TORN if head.k == "log.recovered" else Fault.GAP
            self._report.add(fault, f"record {head.n}", _said(said))
        if name and (said.get("seg"), said.get("kept")) != (name, kept):
            self._report.add(Fault.INSERT, name, f"{size} bytes that no record accounts for")

    def _genesis(self, line: bytes) -> None:
        record = fields_of(line)
        theirs = (record.get("k"), record.get("origin"), record.get("vkey"))
        if theirs != ("log.genesis", self._identity.origin, self._identity.vkeys[0]):
            self._report.add(Fault.SPLICE, "record 0", "is not the beginning of this log")
            self.whole = False

    def _broken(self, fault: Fault, low: int, high: int, detail: str) -> None:
        self.whole = False
        self._report.add(fault, _places(low, high), detail)


def _said(record: dict[str, object]) -> str:
    if record.get("k") == "log.gap":
        return f"{record.get('count')} records were refused while the log could not be written"
    return (
        f"recovered, {record.get('why')}: {record.get('seg')} counts to byte {record.get('kept')}"
    )


def _places(low: int, high: int) -> str:
    return f"record {low}" if high == low + 1 else f"records {low} to {high - 1}"
