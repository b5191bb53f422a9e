"""Telemetry of one process: told of each finished request, it counts, encodes and sends.

Requests that are over gather in a queue, and whoever brings the eighth counts and encodes them
all: between two requests, not in one, and for a millisecond at most.  On a thread of its own that
would take the same interpreter from the loop, and switching costs more than the work.  What stays
behind when requests come slowly a recorder thread takes; a sender thread waits for the collector.
Nothing here raises into a request.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Final, Self, cast
from uuid import uuid4

import structlog
from opentelemetry.sdk.resources import Resource

from .. import __version__
from .context import ContextReader, Ids
from .measurement import Measurement
from .metrics import Metrics
from .options import TelemetryOptions
from .otlp import open_exporter
from .sender import Limits, Sender
from .spans import SpanEncoder
from .timings import timings
from .wire import Value

_GATHER: Final = 8
"""How many requests gather.  Recording one alone finds the processor's caches cold, and a hundred
have cooled down themselves: both make a request a tenth dearer or more."""
_GATHER_SECONDS: Final = 0.5
"""How long fewer wait for the recorder thread.  Scrapes and the end do not wait for it."""
_SLICE_NS: Final = 1_000_000
"""How long requests are worked off in one go: what the loop may have to wait, a fifth of CPython's
switch interval."""
_PAUSE_SECONDS: Final = 0.0001
"""Long enough for the loop's thread to get the interpreter; a yield of 0 seconds is not."""


class Telemetry:
    """Begun by `start`, ended by `shutdown`; `settled` is the observer the proxy calls."""

    def __init__(
        self,
        metrics: Metrics,
        limits: Limits,
        encoder: SpanEncoder | None,
        sender: Sender | None,
        contexts: ContextReader,
    ) -> None:
        self.metrics = metrics
        self.contexts = contexts
        """Reads callers' trace headers; also makes span ids (`contexts.ids`)."""
        self._encoder = encoder
        self._sender = sender
        self._queue: deque[Measurement | Callable[[], Measurement]] = deque()
        self._max_queue = limits.max_queue
        self._lost = 0
        self._lost_counted = 0
        self._awake = False
        self._wake = Event()
        self._ending = Event()
        self._closing = False
        self._recording = Lock()
        self._log = structlog.get_logger()
        self._thread = Thread(target=self._run, name="telemetry-recorder", daemon=True)

    @classmethod
    def start(
        cls,
        options: TelemetryOptions,
        metrics: Metrics | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Open the exporter, if an endpoint is configured, and start the threads.

        MUST be called in the process that serves, after any fork.  Raises ValueError for settings
        that make no sense.  `environ` replaces os.environ for Tidegate's own reading of it; the
        SDK's exporters always read the process's.
        """
        environ = os.environ if environ is None else environ
        metrics = metrics or Metrics()
        limits, target = options.limits(), options.target(environ)
        sampler = options.sampler(environ)
        ids = Ids()
        encoder = sender = None
        if target is None:
            # Without an exporter no trace begins here; a caller's decision is still passed on.
            sampler = replace(sampler, ratio=0.0)
        else:
            encoder = SpanEncoder(_resource(options, environ), __version__, ids)
            sender = Sender(open_exporter(target), encoder.request, limits, metrics.dropped)
        contexts = ContextReader(ids, sampler, options.trust_callers)
        telemetry = cls(metrics, limits, encoder, sender, contexts)
        telemetry._thread.start()
        return telemetry

    def settled(self, measurement: Measurement | Callable[[], Measurement]) -> None:
        """Take note of a finished request; never raises.

        Costs about a microsecond, and every eighth time a tenth of a millisecond.  The
        measurement now belongs to telemetry and MUST NOT be changed afterwards.  Given as a
        function it is made when it is recorded, where such code stays warm.
        """
        queue = self._queue
        waiting = len(queue)
        if waiting >= self._max_queue:
            self._lost += 1
            return
        queue.append(measurement)
        if waiting + 1 >= _GATHER:
            self._record_slice(wait=False)
        elif not self._awake:
            self._awake = True
            self._wake.set()

    def metrics_text(self) -> bytes:
        """Return the Prometheus text, requests settled just now included."""
        while self._record_slice():
            pass
        return self.metrics.render()

    def shutdown(self, timeout: float = 5.0) -> None:
        """Record and send what waits, for at most `timeout` seconds; blocks: not in the loop."""
        deadline = time.monotonic() + timeout
        self._closing = True
        self._wake.set()
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        if self._sender is not None:
            self._sender.close(max(deadline - time.monotonic(), 0))
        if self._queue:
            self.metrics.dropped("shutdown", len(self._queue))

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait()
            self._wake.clear()
            self._ending.wait(_GATHER_SECONDS)
            self._awake = False  # before the last look: what comes after it wakes us again
            self._record_all()
        self._record_all()  # also what came before this thread had its first turn

    def _record_all(self) -> None:
        while self._record_slice():
            time.sleep(_PAUSE_SECONDS)

    def _record_slice(self, *, wait: bool = True) -> bool:
        """Record requests, one at least, for _SLICE_NS; False if none are left.

        Also False if another thread is at it and we do not wait for it.
        """
        if not self._recording.acquire(blocking=wait):
            return False
        try:
            until = time.monotonic_ns() + _SLICE_NS
            if self._lost > self._lost_counted:
                lost = self._lost - self._lost_counted
                self._lost_counted += lost
                self.metrics.dropped("queue_full", lost)
            while self._queue:
                self._record(self._queue.popleft())
                if time.monotonic_ns() >= until:
                    return True
        finally:
            self._recording.release()
        return False

    def _record(self, measurement: Measurement | Callable[[], Measurement]) -> None:
        try:
            m = measurement if isinstance(measurement, Measurement) else measurement()
            t = timings(m)
            self.metrics.observe(m, t)
            if m.sampled and self._encoder is not None and self._sender is not None:
                if self._sender.full:
                    self.metrics.dropped("export_queue_full")
                else:
                    self._sender.offer(self._encoder.encode(m, t))
        except Exception as error:  # noqa: BLE001 - one odd measurement must not end all telemetry
            self.metrics.dropped("encode")
            self._log.error("telemetry.encode_failed", error_type=type(error).__name__)


def _resource(options: TelemetryOptions, environ: Mapping[str, str]) -> dict[str, Value]:
    """Return what is said once of all spans; OTEL_RESOURCE_ATTRIBUTES is read by the SDK."""
    own: dict[str, str] = {
        "service.version": __version__,
        "service.instance.id": str(uuid4()),
    }
    sdk = Resource.create(own)
    named = options.service_name or environ.get("OTEL_SERVICE_NAME", "")
    known = str(sdk.attributes.get("service.name", ""))
    if named or not known or known.startswith("unknown_service"):
        sdk = sdk.merge(Resource({"service.name": named or "tidegate"}))
    return cast("dict[str, Value]", dict(sdk.attributes))
