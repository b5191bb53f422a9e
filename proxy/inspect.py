"""Runs the detectors over the texts of a request or an answer.

Conversations have many short texts and nearly all are clean, so a detector that can is first
asked about all of them at once (`Gated`): one pass of an automaton instead of one for each text.
"""

import time
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import structlog

from ..detectors import Detector, Finding, Segment
from .exchange import Run

_log = structlog.get_logger(__name__)

LARGE = 64 << 10
"""Characters from which inspection runs in a thread; RE2 lets others run meanwhile."""


@runtime_checkable
class Gated(Protocol):
    """A detector with a cheap question that may answer yes wrongly, never no."""

    def sees(self, text: str) -> bool:
        """Whether `find` might report something in the text, or in any line of it."""


class Inspector:
    """The detectors of one world.  Pure; may be called from any thread."""

    def __init__(self, detectors: Sequence[Detector]) -> None:
        # Asked once: isinstance with a Protocol costs more than a clean inspection.
        gated = ((d, d.sees if isinstance(d, Gated) else None) for d in detectors)
        self._detectors = tuple(gated)

    def inspect(self, segments: Sequence[Segment], direction: str) -> list[Run]:
        """One run for each detector, passes too, in the order of the configuration."""
        if not segments:
            return []
        joined = segments[0].text if len(segments) == 1 else "\n".join(s.text for s in segments)
        return [
            _run(detector, segments, direction, clean=sees is not None and not sees(joined))
            for detector, sees in self._detectors
        ]


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
