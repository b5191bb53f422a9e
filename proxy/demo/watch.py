"""An observer of the proxy: it keeps the last Measurements and draws one as a tree of spans."""

import asyncio
from collections import OrderedDict

from ...telemetry.measurement import Attempt, Measurement, Stage

KEPT_MEASUREMENTS = 64
WAIT_SECONDS = 5.0
"""A request is settled within milliseconds of its end; a machine under load may need longer."""
NAME_WIDTH = 44


class Notebook:
    """A proxy observer that keeps the last KEPT_MEASUREMENTS by request id."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Measurement] = OrderedDict()
        self._change = asyncio.Event()

    def settled(self, measurement: Measurement) -> None:
        """Keep it."""
        self._kept[measurement.request_id] = measurement
        if len(self._kept) > KEPT_MEASUREMENTS:
            self._kept.popitem(last=False)
        self._change.set()
        self._change = asyncio.Event()

    async def of(self, request_id: str, *, seconds: float = WAIT_SECONDS) -> Measurement:
        """Wait for that request's.  Raises TimeoutError if it does not come."""
        async with asyncio.timeout(seconds):
            while request_id not in self._kept:
                await self._change.wait()
        return self._kept[request_id]


def span_tree(m: Measurement) -> list[str]:
    """Draw the request, its stages and its attempts in order of start: durations and starts."""
    parts: list[Stage | Attempt] = [*m.stages, *m.attempts]
    parts.sort(key=lambda part: (part.start_ns, -part.end_ns))
    lines = [_line(f"{m.method} {m.path} → {m.status}", m.start_ns, m.end_ns, m.start_ns)]
    for number, part in enumerate(parts, 1):
        branch = "└─ " if number == len(parts) else "├─ "
        lines.append(_line(branch + _name(part, m), part.start_ns, part.end_ns, m.start_ns))
    return lines


def _name(part: Stage | Attempt, m: Measurement) -> str:
    if isinstance(part, Stage):
        return part.name
    end = part.error or str(part.status)
    return f"{m.operation or 'call'} {part.engine} → {end}"


def _line(name: str, start_ns: int, end_ns: int, zero_ns: int) -> str:
    took, began = (end_ns - start_ns) / 1e6, (start_ns - zero_ns) / 1e6
    return f"{name:<{NAME_WIDTH}} {took:8.1f} ms   at {began:+.1f} ms"
