"""The figures of one request that are computed rather than read: all in nanoseconds.

A figure that cannot be known is -1.  Differences below zero cannot come from a monotonic clock;
should a caller mix clocks they count as unknown, so that no histogram gets a wrong value.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from .measurement import Attempt, Measurement

UNKNOWN: Final = -1


class Timings(msgspec.Struct):
    """What `timings` found; nanoseconds, -1 if unknown."""

    duration_ns: int
    """Arrival to end."""
    queue_ns: int
    """The sum of the stages named "wait.*"; 0 if there were none."""
    before_engine_ns: int
    """Arrival to the first try: reading, inspecting, deciding, waiting, choosing."""
    overhead_ns: int
    """The request's time that no try covers; overlapping tries count once."""
    answer: Attempt | None
    """The try whose answer the caller got, None if no engine gave one."""
    caller_ttft_ns: int
    """Arrival to the first text-bearing event: queueing, inspection and failed tries included."""
    engine_ttft_ns: int
    """Request handed over to first text: `gen_ai.server.time_to_first_token`."""
    tpot_ns: float
    """(last text - first text) / (output tokens - 1): `gen_ai.server.time_per_output_token`.

    The convention divides the time after the first token by the tokens after the first.
    """
    gaps_ns: Sequence[int]
    """The gaps between text-bearing events, ascending."""
    gap_p50_ns: int
    gap_p95_ns: int
    gap_max_ns: int
    """Of the gaps, by nearest rank (no value that never occurred)."""


def timings(m: Measurement) -> Timings:
    """Compute every figure once, for spans and metrics alike."""
    start, end, attempts = m.start_ns, m.end_ns, m.attempts
    duration = overhead = end - start if 0 < start <= end else UNKNOWN
    queue = 0
    for stage in m.stages:
        if stage.name.startswith("wait."):
            queue += stage.end_ns - stage.start_ns
    before = UNKNOWN
    if attempts:
        before = _between(start, attempts[0].start_ns)
        overhead = max(duration - _covered(attempts), 0)
    answer = answering(m)
    caller_ttft, engine_ttft, tpot = _text(start, answer, m.output_tokens) if answer else _NO_TEXT
    gaps, p50, p95, most = _gaps(m.gaps_ns) if m.gaps_ns else _NO_GAPS
    return Timings(  # by position, which is faster
        duration,
        queue,
        before,
        overhead,
        answer,
        caller_ttft,
        engine_ttft,
        tpot,
        gaps,
        p50,
        p95,
        most,
    )


def answering(m: Measurement) -> Attempt | None:
    """Return the try whose answer the caller got, None if no engine gave one.

    It can only be the last: nothing is tried again once a byte has gone to the caller.
    """
    if not m.attempts:
        return None
    last = m.attempts[-1]
    return last if 200 <= last.status < 300 else None  # noqa: PLR2004 - HTTP's success class


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the nearest-rank percentile of an ascending, non-empty list; `percent` is in 0..100.

    Rank ceil(percent * n / 100), counted from 1 (NIST/SEMATECH e-Handbook 7.2.6.2, "R1").
    """
    return ordered[max((percent * len(ordered) + 99) // 100 - 1, 0)]


def _between(start_ns: int, end_ns: int) -> int:
    return end_ns - start_ns if 0 < start_ns <= end_ns else UNKNOWN


def _text(start_ns: int, answer: Attempt, output_tokens: int) -> tuple[int, int, float]:
    """Return the figures of the answer's text: the caller's first, the engine's, per token."""
    first, span = answer.first_token_ns, answer.last_token_ns - answer.first_token_ns
    if first <= 0:
        return _NO_TEXT
    return (
        _between(start_ns, first),
        _between(answer.sent_ns or answer.start_ns, first),
        # One token has no token after it.
        span / (output_tokens - 1) if output_tokens > 1 and span >= 0 else UNKNOWN,
    )


def _gaps(gaps_ns: Sequence[int]) -> tuple[Sequence[int], int, int, int]:
    ordered = sorted(gaps_ns)
    return ordered, percentile(ordered, 50), percentile(ordered, 95), ordered[-1]


def _covered(attempts: list[Attempt]) -> int:
    """Return the time at least one try was under way."""
    if len(attempts) == 1:
        return attempts[0].end_ns - attempts[0].start_ns
    total = reached = 0
    for attempt in sorted(attempts, key=lambda a: a.start_ns):
        total += max(attempt.end_ns - max(attempt.start_ns, reached), 0)
        reached = max(reached, attempt.end_ns)
    return total


_NO_TEXT: Final[tuple[int, int, float]] = (UNKNOWN, UNKNOWN, UNKNOWN)
_NO_GAPS: Final[tuple[Sequence[int], int, int, int]] = ((), UNKNOWN, UNKNOWN, UNKNOWN)
