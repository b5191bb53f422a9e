"""Runs the detectors over the texts of a request or an answer.

Conversations have many short texts and nearly all are clean, so the patterns of all detectors
first see all texts at once: one pass of an automaton instead of one for each detector and text.

A text made to be slow costs a hundred times what prose does, so a request has a budget of time,
looked at between texts and between windows of a long one.  What is over it counts as not read.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, runtime_checkable

import structlog

from ..detectors import Detector, Finding, Segment
from ..detectors.scanner import Scanner
from ..detectors.windows import windows
from .duty import NEVER, NO_DUTIES, USUAL, Duties, Terms
from .exchange import Run

_log = structlog.get_logger(__name__)

LARGE = 64 << 10
"""Characters from which inspection runs in a thread; RE2 lets others run meanwhile."""

THREADS = 2
"""Large requests inspected at once; others wait in line.  Outside RE2 each takes the interpreter
from the loop, which has the tokens of all streams to relay."""

_SECOND = 1_000_000_000


@runtime_checkable
class Patterned(Protocol):
    """A detector that finds in an ASCII text just what its scanner finds."""

    @property
    def scanner(self) -> Scanner:
        """Its patterns."""


def all_patterns(detectors: Sequence[Detector]) -> Scanner:
    """All patterns of these detectors as one: what looks first, at requests and at answers alike.

    One for both, since its automaton learns from what it has read.
    """
    return Scanner([p for d in detectors if isinstance(d, Patterned) for p in d.scanner.patterns])


class Budget:
    """The time one request may take of its detectors, from `begin` on."""

    __slots__ = ("_length", "_until")

    def __init__(self, seconds: float) -> None:
        self._length = int(seconds * _SECOND)
        self._until = NEVER

    def begin(self) -> None:
        """The clock runs, unless all is given up."""
        self._until = min(self._until, time.monotonic_ns() + self._length)

    def give_up(self) -> None:
        """Nobody waits for the answer any more."""
        self._until = 0

    def spent(self, until: int = NEVER) -> bool:
        """Whether it is used up, or it is `until`, of the monotonic clock in nanoseconds."""
        return time.monotonic_ns() >= min(self._until, until)


class Inspector:
    """The detectors of one world; a request may take `timeout` seconds of them."""

    def __init__(
        self,
        detectors: Sequence[Detector],
        timeout: float = 5.0,
        duties: Duties = NO_DUTIES,
    ) -> None:
        self._timeout = timeout
        self._terms = {d.name: duties.get(d.name, USUAL).input for d in detectors}
        self._threads = ThreadPoolExecutor(THREADS, "inspect")
        self._detectors = tuple(detectors)
        self.first = all_patterns(detectors)
        """What looks at the texts of a request first."""
        self._owners = [
            detector.name
            for detector in detectors
            if isinstance(detector, Patterned)
            for _ in detector.scanner.patterns
        ]
        self._patterned = frozenset(self._owners)

    def close(self) -> None:
        """Take no more; what still runs in threads ends by its budget."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def look(self, segments: Sequence[Segment], direction: str) -> list[Run]:
        """As `inspect`, beside the loop where the texts are long."""
        budget = Budget(self._timeout)
        if size(segments) <= LARGE:
            return self.inspect(segments, direction, budget)
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, self.inspect, segments, direction, budget
            )
        except asyncio.CancelledError:
            budget.give_up()
            raise

    def inspect(
        self, segments: Sequence[Segment], direction: str, budget: Budget | None = None
    ) -> list[Run]:
        """One run for each detector, passes too, in the order of the configuration.

        May be called from any thread.
        """
        if not segments:
            return []
        budget = budget or Budget(self._timeout)
        budget.begin()
        clean = self._clean(segments)
        return [
            Run(d.name, d.version, direction, "pass", 0)
            if d.name in clean
            else _run(d, segments, direction, budget, self._terms[d.name])
            for d in self._detectors
        ]

    def _clean(self, segments: Sequence[Segment]) -> frozenset[str]:
        """The detectors none of whose patterns occurs in any text.

        Line ends between the texts are what the scanner puts around a single one.
        """
        joined = "\n".join([segment.text for segment in segments])
        if not joined.isascii():
            return frozenset()
        try:
            seen = self.first.sees(joined.encode())
        except RuntimeError:  # each detector will say for itself whether it can read the texts
            return frozenset()
        if not seen:
            return self._patterned
        return self._patterned.difference(self._owners[index] for index in seen)


def size(segments: Sequence[Segment]) -> int:
    """Characters of all texts."""
    return sum(len(segment.text) for segment in segments)


def _run(
    detector: Detector,
    segments: Sequence[Segment],
    direction: str,
    budget: Budget,
    terms: Terms,
) -> Run:
    start = time.monotonic_ns()
    found: list[tuple[Segment, Finding]] = []
    try:
        late = partial(budget.spent, start + terms.timeout_ns)
        finished = _look(detector, segments, late, found)
        verdict = "hit" if found else "pass"
        if not finished:
            _log.warning("detector.timeout", detector=detector.name)
            verdict = "timeout"
    except Exception as error:  # noqa: BLE001 - a detector is foreign code; policy says what now
        # The error's own text may quote what it choked on, so only its type is told.
        _log.error("detector.failed", detector=detector.name, error=type(error).__name__)
        verdict, found = "error", []
    took = time.monotonic_ns() - start
    return Run(detector.name, detector.version, direction, verdict, took, found, terms.on_error)


def _look(
    detector: Detector,
    segments: Sequence[Segment],
    late: Callable[[], bool],
    found: list[tuple[Segment, Finding]],
) -> bool:
    """Add what one detector finds; whether it came to the end in time."""
    for segment in segments:
        for window in windows(segment):
            if late():
                return False
            here = detector.find(window.segment)
            if here:
                told = here if window.segment is segment else window.own(here)
                found += [(segment, finding) for finding in told]
    return True
