"""Whether each decision has exactly one ending.

Decisions of the present run may still be in flight; those of earlier runs, and of a run that was
closed, may not.  Memory is bounded by MAX_OPEN ids.
"""

from .record import Head
from .report import Fault, Log, Report

MAX_OPEN = 100_000


class Pairing:
    """Follows decisions and endings in the order of the log."""

    def __init__(self, log: Log, report: Report) -> None:
        self._log = log
        self._report = report
        self._open: dict[str, tuple[int, int]] = {}
        self._uncounted = 0
        self._run = 0
        self.closed = False

    def follow(self, head: Head) -> None:
        """See the next record."""
        if self.closed and head.k not in ("log.open", "log.recovered"):
            self._report.add(Fault.INSERT, f"record {head.n}", "follows the end of the log")
        match head.k:
            case "llm.decision":
                self._log.decisions += 1
                self._begin(head)
            case "llm.completion":
                self._log.completions += 1
                self._end(head)
            case "llm.abort":
                self._log.aborts += 1
                self._end(head)
            case "log.open":
                self._run += 1
                self.closed = False
            case "log.close":
                self.closed = True
            case _:
                pass

    def finish(self) -> None:
        """Report what never ended."""
        for n, run in self._open.values():
            if run < self._run or self.closed:
                self._report.add(Fault.UNPAIRED, f"record {n}", "a decision without an ending")
            else:
                self._log.in_flight += 1
        if self._uncounted:
            detail = f"{self._uncounted} more decisions were open at once than can be followed"
            self._report.add(Fault.UNPAIRED, "log", detail)

    def _begin(self, head: Head) -> None:
        if head.id in self._open:
            self._report.add(Fault.UNPAIRED, f"record {head.n}", "an id that is in use already")
        elif len(self._open) < MAX_OPEN:
            self._open[head.id] = (head.n, self._run)
        else:
            self._uncounted += 1

    def _end(self, head: Head) -> None:
        if self._open.pop(head.ref, None) is None and not self._uncounted:
            self._report.add(Fault.UNPAIRED, f"record {head.n}", "an ending without a decision")
