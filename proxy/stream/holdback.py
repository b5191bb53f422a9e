"""Holds back what might still turn out to be part of a match, and nothing else.

One HoldBack follows one text channel of one answer.  Invariant: the text released over time, with
the edits applied, equals the whole text edited at once, for every way of cutting it into pieces
(`tests/properties/test_holdback.py`).  Why it holds: nothing is decided at or after the leftmost
place where a match may be in progress, the cut is never inside a candidate, and candidates before
the cut cannot change with more text (`Scanner`'s invariant), so reading on from the cut is in
step with reading from the start.

No I/O and no clock.  Positions are characters since the start of the channel.
"""

from collections.abc import Callable
from typing import NamedTuple

from ...detectors import Finding, Segment, Source, Trust
from ...detectors.pattern import CONTEXT_REACH
from ...detectors.scanner import Scanner
from ...policies import Action

_KEEP = CONTEXT_REACH + 1
"""Characters kept of what was released: context words, and the next match's left neighbour."""


class Verdict(NamedTuple):
    """What is to become of one finding; `replacement` counts when the action is REDACT."""

    action: Action
    replacement: str = ""


Judge = Callable[[Segment, Finding, int], Verdict]
"""Asked with the position in the channel of the segment's first character."""


class Edit(NamedTuple):
    """Characters [start, end) of the channel become `text`."""

    start: int
    end: int
    text: str


class Release(NamedTuple):
    """Everything before `upto` is decided; `edits` lie inside it, sorted, never overlapping.

    `stop` is where a blocked finding begins, or -1: nothing from there on may go out.
    """

    upto: int
    edits: list[Edit]
    stop: int = -1


class HoldBack:
    """One channel under one set of patterns; `judge` says what a finding means."""

    __slots__ = ("_base", "_judge", "_scanner", "_source", "_start", "_text", "_where")

    def __init__(
        self, scanner: Scanner, judge: Judge, source: Source, where: tuple[str | int, ...] = ()
    ) -> None:
        self._scanner = scanner
        self._judge = judge
        self._source = source
        self._where = where
        self._text = ""  # up to _KEEP released characters, then what is held
        self._start = 0  # where the held text begins in _text
        self._base = 0  # position in the channel of _text[0]

    @property
    def held(self) -> str:
        """The text that has come and is not yet decided."""
        return self._text[self._start :]

    def push(self, text: str) -> Release:
        """Take the next piece, and release what no match can claim any more.

        Raises one of scanner.UNREADABLE if the text cannot be searched; it is not released.
        """
        self._text += text
        if self._scanner.idle(self._text, self._start):
            return self._release(len(self._text), [])
        hold = self._scanner.in_progress(self._text, self._start)
        if hold <= self._start:
            return Release(self._base + self._start, [])
        return self._decide(hold)

    def passes(self, text: str) -> bool:
        """Take the next piece if nothing of it needs a decision; else it is not taken.

        As `push`, which would release all without an edit, for what nearly all pieces are.
        """
        whole = self._text + text
        if not self._scanner.idle(whole, self._start):
            return False
        self._text = whole
        self._forget(len(whole))
        return True

    def give_up(self) -> Release:
        """Let pass, unread, what is held and all that comes."""
        self._scanner = Scanner(())
        return self._release(len(self._text), [])

    def close(self) -> Release:
        """The channel has ended: everything held is due."""
        return self._decide(len(self._text))

    def _decide(self, cut: int) -> Release:
        text = self._text
        candidates = self._scanner.candidates(text, self._start)
        if not candidates:
            return self._release(cut, [])
        for candidate in reversed(candidates):
            if candidate.start < cut < candidate.end:
                cut = candidate.start
        if cut <= self._start:
            return Release(self._base + self._start, [])
        settled = [c for c in candidates if c.end <= cut]
        return self._release(cut, self._scanner.confirm(text, settled))

    def _release(self, cut: int, findings: list[Finding]) -> Release:
        base, stop = self._base, -1
        edits: list[Edit] = []
        if findings:
            segment = Segment(self._text, self._where, self._source, Trust.MODEL, self._start)
            edits, stop = judged(segment, findings, self._judge, base)
        self._forget(cut)
        return Release(base + cut, edits, stop)

    def _forget(self, cut: int) -> None:
        """Go on from a cut in the text."""
        forget = max(0, cut - _KEEP)
        self._text = self._text[forget:]
        self._start = cut - forget
        self._base += forget


def judged(
    segment: Segment, findings: list[Finding], judge: Judge, base: int = 0
) -> tuple[list[Edit], int]:
    """The edits that the findings of one text call for, overlaps made one; and the stop.

    The stop is the start of the first blocked finding, -1 without one; edits end before it.
    """
    edits: list[Edit] = []
    for finding in findings:
        verdict = judge(segment, finding, base)
        if verdict.action is Action.BLOCK:
            return merged(edits), base + finding.start
        if verdict.action is not Action.REDACT:
            continue
        edits.append(Edit(base + finding.start, base + finding.end, verdict.replacement))
    return merged(edits), -1


def merged(edits: list[Edit]) -> list[Edit]:
    """Overlaps made one under the first one's mask; `edits` are in the order they begin."""
    out: list[Edit] = []
    for edit in edits:
        if out and edit.start < out[-1].end:
            out[-1] = out[-1]._replace(end=max(out[-1].end, edit.end))
        else:
            out.append(edit)
    return out


def edited(text: str, edits: list[Edit], start: int = 0) -> str:
    """The piece of a channel that begins at `start`, with the edits that touch it applied.

    A replacement goes into the piece its edit begins in; later pieces only lose characters.
    """
    out: list[str] = []
    at = start
    for edit in edits:
        if edit.end <= at or edit.start >= start + len(text):
            continue
        if edit.start >= at:
            out += text[at - start : edit.start - start], edit.text
        at = edit.end
    if at < start + len(text):
        out.append(text[at - start :])
    return "".join(out)
