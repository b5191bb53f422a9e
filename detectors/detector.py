"""What a detector is: a pure function from one segment to findings."""

from typing import Protocol

from .finding import Finding
from .segment import Segment


class Detector(Protocol):
    """Finds things of the kinds it names.

    A class is called without arguments, or with its options if it has a model for them
    (`options.py`).  Making it may take long and may read what its options name; nothing else may.

    `find` MUST be pure, MUST return spans of the segment's original text sorted by start, MUST
    NOT report a finding that starts before `segment.start`, and MUST NOT raise on any text.
    """

    @property
    def name(self) -> str:
        """A stable name for records, such as "pii"."""

    @property
    def version(self) -> str:
        """Changes whenever the findings for some text may change."""

    @property
    def kinds(self) -> frozenset[str]:
        """Every kind that `find` may report."""

    def find(self, segment: Segment) -> list[Finding]:
        """All findings in the segment, sorted by start, then end."""
