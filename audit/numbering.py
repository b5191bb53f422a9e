"""From what was submitted to what is written: numbers, canonical bytes, leaf hashes, lines.

Runs in the writer thread for a whole batch, where the code stays warm.  A record that cannot be
written takes no number and hinders no other, but its own completion: an ending without a
beginning would look like tampering.
"""

from collections.abc import Iterable

from .failure import RecordError
from .frame import framed
from .inbox import Entry
from .record import Closing, Opening, Record, Stamp, encode
from .tree import leaf_hash


class Numbering:
    """Makes entries ready for the disk."""

    def __init__(self, log: str, most: int) -> None:
        self._log = log
        self._most = most
        self._unrecorded: dict[str, None] = {}
        """Decisions that are not in the log though their completion may come; at most `most`."""

    def number(
        self, entries: Iterable[Entry], first: int
    ) -> tuple[list[Entry], list[tuple[Entry, RecordError]]]:
        """Those with number, line and leaf from `first` on, and those that cannot be written.

        May be called again for the same entries with another `first`.

        Raises:
            RecordError: if it is a record of the log about itself.

        """
        ready: list[Entry] = []
        faulty: list[tuple[Entry, RecordError]] = []
        stamp = Stamp(first, self._log, 0)
        for entry in entries:
            try:
                if self._unrecorded:
                    self._refuse_ending(entry.record)
                stamp.t2 = entry.t2
                encoded = encode(entry.record, stamp)
            except RecordError as error:
                if entry.future is None:
                    raise
                self.disown(entry.record)
                faulty.append((entry, error))
                continue
            entry.n = stamp.n
            entry.leaf = leaf = leaf_hash(encoded)
            entry.line = framed(encoded, leaf)
            ready.append(entry)
            stamp.n += 1
        return ready, faulty

    def disown(self, record: Record) -> None:
        """Remember that a decision is not in the log."""
        if not isinstance(record, Opening):
            return
        if len(self._unrecorded) >= self._most:
            del self._unrecorded[next(iter(self._unrecorded))]
        self._unrecorded[record.id] = None

    def _refuse_ending(self, record: Record) -> None:
        if isinstance(record, Closing) and record.ref in self._unrecorded:
            del self._unrecorded[record.ref]
            raise RecordError("the decision is not on record, so its completion cannot be")
