"""The figures of one request that are computed rather than read: all in nanoseconds.

A figure that cannot be known is -1.  Differences below zero cannot come from a monotonic clock;
should a caller mix clocks they count as unknown, so that no histogram gets a wrong value.
"""

from dataclasses import dataclass
from math import ceil
from typing import Final

from .measurement import Attempt, Measurement

UNKNOWN: Final = -1


@dataclass(slots=True)
class Timings:
    """What `timings` found; nanoseconds, -1 if unknown."""

    duration_ns: int
    """Arrival to end."""
    caller_ttft_ns: int
    """Arrival to the first text-bearing event: queueing, inspection and failed tries included."""
    engine_ttft_ns: int
    """Request handed over to first text: `gen_ai.server.time_to_first_token`."""
    tpot_ns: float
    """(last text - first text) / (output tokens - 1): `gen_ai.server.time_per_output_token`.

    The convention divides the time after the first token by the tokens after the first.
    """
    gap_p50_ns: int
    gap_p95_ns: int
    gap_max_ns: int
    """Of the gaps between text-bearing events, by nearest rank (no value that never occurred)."""
    queue_ns: int
    """The sum of the stages named "wait.*"; 0 if there were none."""
    before_engine_ns: int
    """Arrival to the first try: reading, inspecting, deciding, waiting, choosing."""
    overhead_ns: int
    """The request's time that no try covers; overlapping tries count once."""


def timings(m: Measurement) -> Timings:
    """Compute every figure once, for spans and metrics alike."""
    first = m.attempts[0] if m.attempts else None
    answer = answering(m)
    p50, p95, most = _gaps(m.gaps_ns)
    duration = _between(m.start_ns, m.end_ns)
    return Timings(
        duration_ns=duration,
        caller_ttft_ns=_between(m.start_ns, answer.first_token_ns) if answer else UNKNOWN,
        engine_ttft_ns=_engine_ttft(answer) if answer else UNKNOWN,
        tpot_ns=_tpot(answer, m.output_tokens) if answer else UNKNOWN,
        gap_p50_ns=p50,
        gap_p95_ns=p95,
        gap_max_ns=most,
        queue_ns=sum(s.end_ns - s.start_ns for s in m.stages if s.name.startswith("wait.")),
        before_engine_ns=_between(m.start_ns, first.start_ns) if first else UNKNOWN,
        overhead_ns=max(duration - _covered(m.attempts), 0) if first else duration,
    )


def answering(m: Measurement) -> Attempt | None:
    """Return the try whose answer the caller got, None if no engine gave one.

    It can only be the last: nothing is tried again once a byte has gone to the caller.
    """
    if not m.attempts:
        return None
    last = m.attempts[-1]
    return last if 200 <= last.status < 300 else None  # noqa: PLR2004 - HTTP's success class


def percentile(ordered: list[int], share: float) -> int:
    """Return the nearest-rank percentile of an ascending, non-empty list; `share` lies in 0..1.

    Rank ceil(share * n), counted from 1 (NIST/SEMATECH e-Handbook 7.2.6.2, "R1").
    """
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]


def _between(start_ns: int, end_ns: int) -> int:
    return end_ns - start_ns if 0 < start_ns <= end_ns else UNKNOWN


def _engine_ttft(attempt: Attempt) -> int:
    return _between(attempt.sent_ns or attempt.start_ns, attempt.first_token_ns)


def _tpot(attempt: Attempt, output_tokens: int) -> float:
    span = _between(attempt.first_token_ns, attempt.last_token_ns)
    if output_tokens < 2 or span < 0:  # noqa: PLR2004 - one token has no token after it
        return UNKNOWN
    return span / (output_tokens - 1)


def _gaps(gaps_ns: list[int]) -> tuple[int, int, int]:
    if not gaps_ns:
        return UNKNOWN, UNKNOWN, UNKNOWN
    ordered = sorted(gaps_ns)
    return percentile(ordered, 0.5), percentile(ordered, 0.95), ordered[-1]


def _covered(attempts: list[Attempt]) -> int:
    """Return the time at least one try was under way."""
    if len(attempts) == 1:
        return attempts[0].end_ns - attempts[0].start_ns
    total = reached = 0
    for attempt in sorted(attempts, key=lambda a: a.start_ns):
        total += max(attempt.end_ns - max(attempt.start_ns, reached), 0)
        reached = max(reached, attempt.end_ns)
    return total
