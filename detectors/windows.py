"""Cuts a long text into windows that overlap, for whoever must be able to stop in between.

What is found in the windows is what is found in the whole, for matches of up to AFTER characters
whose context lies within BEFORE: a finding belongs to the window in whose own part it begins, and
every window shows enough around that part.  Texts that are hardly longer than a window stay whole.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .finding import Finding
from .segment import Segment

OWN = 512 << 10
"""Characters of a window's own part.  The costliest texts take about a second for as many."""

BEFORE = 1 << 10
"""Characters before it: context words, neighbours, the beginning of a combined character."""

AFTER = 96 << 10
"""Characters behind it: a private key has up to 16,517, a coded piece is read for 87,384."""


class Window(NamedTuple):
    """A stretch of a text as a segment of its own; `base` is where it begins in the whole."""

    segment: Segment
    base: int
    start: int
    """Where its own part begins and ends, in characters of the whole."""
    end: int

    def own(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that are this window's to tell, with their places in the whole text.

        What was found by decoding may span all that was decoded, so it is told by each window
        whose own part it touches.
        """
        told: list[Finding] = []
        for f in found:
            start, end = f.start + self.base, f.end + self.base
            if start < self.end and (start >= self.start or (f.layer and end > self.start)):
                told.append(Finding(f.kind, start, end, f.score, f.rule, f.layer))
        return told


def windows(segment: Segment) -> Iterator[Window]:
    """The windows of a segment that is read from its start, left to right."""
    size = len(segment.text)
    start = 0
    while start + OWN + AFTER < size:
        yield _window(segment, start, start + OWN, start + OWN + AFTER)
        start += OWN
    if start:
        yield _window(segment, start, size, size)
    else:
        yield Window(segment, 0, 0, size)


def _window(segment: Segment, start: int, end: int, until: int) -> Window:
    base = max(0, start - BEFORE)
    text = segment.text[base:until]
    return Window(Segment(text, segment.where, segment.source, segment.trust), base, start, end)
