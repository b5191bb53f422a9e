"""The thread that waits for collectors, so that nobody else has to.

Encoded requests wait in a bounded outbox.  While a collector is down or hangs the outbox fills,
what comes later is not even encoded, and all that is lost is counted.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Final

import structlog

from .otlp import Exporter

_BATCH_BYTES: Final = 2 << 20
"""Where a batch ends even if it is not full: collectors take 4 MB by default."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the way to the collector."""

    max_queue: int = 2048
    """Requests that may wait, in each of the two queues."""
    max_batch: int = 512
    """Requests per export: about 2 KB each, and an export costs as much as encoding a hundred."""
    interval: float = 1.0
    """Seconds until a batch that is not full is sent."""


class Sender:
    """Sends batches from a thread of its own, from construction until `close`."""

    def __init__(
        self,
        exporter: Exporter,
        wrap: Callable[[Sequence[bytes]], bytes],
        limits: Limits,
        dropped: Callable[[str, int], None],
    ) -> None:
        self._exporter = exporter
        self._wrap = wrap
        self._limits = limits
        self._dropped = dropped
        self._outbox: deque[bytes] = deque()
        self._due = Event()
        self._deadline: float | None = None
        self._in_flight = 0
        self._abandoned = False
        self._failing = False
        self._log = structlog.get_logger()
        self._thread = Thread(target=self._run, name="telemetry-sender", daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether an offer would be refused; asked before the cost of encoding."""
        return len(self._outbox) >= self._limits.max_queue

    def offer(self, part: bytes) -> None:
        """Queue one encoded request; counted as lost if there is no room."""
        if self.full:
            self._dropped("export_queue_full", 1)
            return
        self._outbox.append(part)
        if len(self._outbox) >= self._limits.max_batch:
            self._due.set()

    def close(self, timeout: float) -> None:
        """Send what waits, for at most `timeout` seconds; the rest is counted as lost."""
        self._deadline = monotonic() + timeout
        self._due.set()
        self._thread.join(timeout)
        if self._thread.is_alive():
            self._abandoned = True
            self._exporter.shutdown()  # ends a wait for a retry or a gRPC call; never waits itself
        lost = len(self._outbox) + self._in_flight
        if lost:
            self._dropped("shutdown", lost)

    def _run(self) -> None:
        while self._deadline is None:
            self._due.wait(self._limits.interval)
            self._due.clear()
            self._send_waiting()
        self._send_waiting()
        if not self._abandoned:
            self._exporter.shutdown()

    def _send_waiting(self) -> None:
        while self._outbox and not self._abandoned and not self._late():
            parts: list[bytes] = []
            room = _BATCH_BYTES
            while self._outbox and len(parts) < self._limits.max_batch and room > 0:
                parts.append(self._outbox.popleft())
                room -= len(parts[-1])
            self._send(parts)

    def _late(self) -> bool:
        return self._deadline is not None and monotonic() >= self._deadline

    def _send(self, parts: Sequence[bytes]) -> None:
        self._in_flight = len(parts)
        try:
            sent = self._exporter.send(self._wrap(parts), len(parts))
        except Exception as error:  # noqa: BLE001 - a transport raises what it likes; spans may be lost, the thread not
            self._log.warning("telemetry.export_raised", error_type=type(error).__name__)
            sent = False
        if self._abandoned:
            return  # `close` has counted these
        self._in_flight = 0
        if not sent:
            self._dropped("export_failed", len(parts))
        if sent is self._failing:
            self._failing = not sent
            event = "telemetry.export_recovered" if sent else "telemetry.export_failing"
            self._log.warning(event)
