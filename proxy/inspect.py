"""Runs the detectors over the texts of a request or an answer.

Conversations have many short texts and nearly all are clean, so the patterns of all detectors
first see all texts at once: one pass of an automaton instead of one for each detector and text.
"""

import time
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import structlog

from ..detectors import Detector, Finding, Segment
from ..detectors.scanner import Scanner
from .exchange import Run

_log = structlog.get_logger(__name__)

LARGE = 64 << 10
"""Characters from which inspection runs in a thread; RE2 lets others run meanwhile."""


@runtime_checkable
class Patterned(Protocol):
    """A detector that finds in an ASCII text just what its scanner finds."""

    @property
    def scanner(self) -> Scanner:
        """Its patterns."""


class Inspector:
    """The detectors of one world.  Pure; may be called from any thread."""

    def __init__(self, detectors: Sequence[Detector]) -> None:
        self._detectors = tuple(detectors)
        owned = [
            (pattern, detector.name)
            for detector in detectors
            if isinstance(detector, Patterned)
            for pattern in detector.scanner.patterns
        ]
        self._gate = Scanner([pattern for pattern, _ in owned])
        self._owners = [name for _, name in owned]
        self._patterned = frozenset(self._owners)

    def inspect(self, segments: Sequence[Segment], direction: str) -> list[Run]:
        """One run for each detector, passes too, in the order of the configuration."""
        if not segments:
            return []
        clean = self._clean(segments)
        return [_run(d, segments, direction, clean=d.name in clean) for d in self._detectors]

    def _clean(self, segments: Sequence[Segment]) -> frozenset[str]:
        """The detectors none of whose patterns occurs in any text.

        Line ends between the texts are what the scanner puts around a single one.
        """
        joined = "\n".join([segment.text for segment in segments])
        if not joined.isascii():
            return frozenset()
        seen = self._gate.sees(joined.encode())
        if not seen:
            return self._patterned
        return self._patterned.difference(self._owners[index] for index in seen)


def size(segments: Sequence[Segment]) -> int:
    """Characters of all texts."""
    return sum(len(segment.text) for segment in segments)


def _run(detector: Detector, segments: Sequence[Segment], direction: str, *, clean: bool) -> Run:
    start = time.monotonic_ns()
    found: list[tuple[Segment, Finding]] = []
    verdict = "pass"
    try:
        if not clean:
            found = [(s, f) for s in segments for f in detector.find(s)]
            verdict = "hit" if found else "pass"
    except Exception as error:  # noqa: BLE001 - a detector is foreign code; policy says what now
        # The error's own text may quote what it choked on, so only its type is told.
        _log.error("detector.failed", detector=detector.name, error=type(error).__name__)
        verdict = "error"
    took = time.monotonic_ns() - start
    return Run(detector.name, detector.version, direction, verdict, took, found)
