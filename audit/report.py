"""What a verification found, and what that means."""

from dataclasses import dataclass, field
from enum import StrEnum

MAX_FINDINGS = 1000
"""A log that is wrong everywhere must not fill the verifier's memory."""


class Fault(StrEnum):
    """The classes of findings."""

    EDIT = "edit"
    DELETE = "delete"
    INSERT = "insert"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    TRUNCATE = "truncate"
    SPLICE = "splice"
    FORK = "fork"
    ROLLBACK = "rollback"
    BAD_SIGNATURE = "bad_signature"
    MISSING = "missing"
    UNPAIRED = "unpaired"
    UNSIGNED = "unsigned"
    UNREADABLE = "unreadable"
    TORN = "torn"
    GAP = "gap"


_INCOMPLETE = frozenset({Fault.UNPAIRED, Fault.UNSIGNED})
_NOTES = frozenset({Fault.TORN, Fault.GAP})
"""Traces of crashes and full disks, on record themselves: worth a look, no fault of the log."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be; no text of a record is quoted."""

    fault: Fault
    place: str
    detail: str


@dataclass(slots=True)
class Log:
    """The figures of one log."""

    path: str
    origin: str = ""
    records: int = 0
    decisions: int = 0
    completions: int = 0
    aborts: int = 0
    in_flight: int = 0
    """Decisions of the present run that have not ended yet."""
    checkpoints: int = 0
    signed: int = 0
    """Records under the newest checkpoint."""
    root: str = ""
    """The root over all records, base64; "" unless the log is whole."""


@dataclass(slots=True)
class Report:
    """The outcome of a verification."""

    logs: list[Log] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    more: int = 0
    """Findings beyond the first MAX_FINDINGS."""
    _worst: int = 0

    def add(self, fault: Fault, place: str, detail: str) -> None:
        """Note a finding."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(fault, place, detail))
        else:
            self.more += 1
        self._worst = max(self._worst, _rank(fault))

    @property
    def exit_code(self) -> int:
        """0 clean, 1 tampered with, 2 incomplete, 3 unreadable; tampering outranks the others."""
        return (0, 2, 3, 1)[self._worst]


def _rank(fault: Fault) -> int:
    if fault in _NOTES:
        return 0
    if fault in _INCOMPLETE:
        return 1
    return 2 if fault is Fault.UNREADABLE else 3
