"""The numbers operators watch, as Prometheus text.

Knows Measurements, no HTTP: whoever serves /metrics calls `Telemetry.metrics_text` (or `render`).
One lock guards all instruments, because the recording thread observes while another renders.

Invariant: label values come from the configuration or from closed sets, never from callers.
"""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from .. import __version__
from . import names
from .instruments import Counter, Histogram, Slots
from .measurement import Measurement
from .names import OTHER
from .spans import attempt_error, server_error
from .timings import Timings, answering

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""What `render` returns, for the Content-Type header."""

_NS: Final = 1e-9
_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
)
_BOUND_MAX: Final = 1024


@dataclass(slots=True)
class _Bound:
    """The slots of one kind of request, looked up once."""

    http: Slots
    duration: Slots
    overhead: Slots
    queue: Slots
    held: Slots
    caller_ttft: Slots
    gaps: Slots


@dataclass(slots=True)
class _Inference:
    """The slots of one kind of inference, looked up once."""

    duration: Slots
    ttft: Slots
    tpot: Slots
    tokens_in: Slots
    tokens_out: Slots


class Metrics:
    """All instruments, on a registry of its own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry if registry is not None else CollectorRegistry()
        self._lock = Lock()
        self._histograms: dict[str, Histogram] = {}
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        for metric in names.METRICS:
            self._make(metric)
        self._bound = lru_cache(_BOUND_MAX)(self._bind)
        self._inference = lru_cache(_BOUND_MAX)(self._bind_inference)
        self._gauge(names.BUILD).labels(__version__, platform.python_version()).set(1)
        for reason in ("queue_full", "export_queue_full", "export_failed", "encode", "shutdown"):
            self.dropped(reason, 0)  # a counter that is not there cannot be alerted on
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def observe(self, m: Measurement, t: Timings) -> None:
        """Count one finished request."""
        with self._lock:
            self._observe_request(m, t)
            if m.operation:
                self._observe_inference(m, t)

    def render(self) -> bytes:
        """Return everything in the Prometheus text format 0.0.4."""
        with self._lock:
            return generate_latest(self.registry)

    def dropped(self, reason: str, amount: int = 1) -> None:
        """Count requests whose telemetry was lost."""
        with self._lock:
            self._counter(names.DROPPED).add((reason,), amount)

    def engine_up(self, engine: str, *, up: bool) -> None:
        """Say whether an engine may be chosen."""
        self._gauge(names.ENGINE_UP).labels(engine).set(up)

    def engine_in_flight(self, engine: str, requests: int) -> None:
        """Say how many requests are at an engine; `watch_engine` costs nothing between scrapes."""
        self._gauge(names.ENGINE_IN_FLIGHT).labels(engine).set(requests)

    def watch_engine(self, engine: str, in_flight: Callable[[], float]) -> None:
        """Read an engine's requests in flight from `in_flight` at each scrape: no cost between."""
        self._gauge(names.ENGINE_IN_FLIGHT).labels(engine).set_function(in_flight)

    def watch_active(self, active: Callable[[], float]) -> None:
        """Read the number of requests now in the proxy from `active` at each scrape."""
        self._gauge(names.ACTIVE).set_function(active)

    def forget_engine(self, engine: str) -> None:
        """Drop the gauges of an engine that is no longer configured."""
        for metric in (names.ENGINE_UP, names.ENGINE_IN_FLIGHT):
            self._gauge(metric).remove(engine)

    def audit_up(self, *, up: bool) -> None:
        """Say whether the audit log can be written."""
        self._gauge(names.AUDIT_UP).set(up)

    def _observe_request(self, m: Measurement, t: Timings) -> None:
        error = server_error(m.status, m.outcome)
        b = self._bound(m.method, m.path, m.status, error, m.route, m.model)
        if t.duration_ns >= 0:
            b.http.observe(t.duration_ns)
            b.duration.observe(t.duration_ns)
            b.overhead.observe(t.overhead_ns)
        b.queue.observe(t.queue_ns)
        if m.stream:
            b.held.observe(m.held_bytes_max)
        if t.caller_ttft_ns >= 0:
            b.caller_ttft.observe(t.caller_ttft_ns)
        b.gaps.observe_all(m.gaps_ns)
        self._counter(names.REQUESTS).add((m.route, m.outcome))
        self._counter(names.ACTIONS).add((m.route, m.action))
        for kind, count in m.findings.items():
            self._counter(names.FINDINGS).add((kind,), count)
        for attempt in m.attempts:
            failed = attempt_error(attempt.status, attempt.error)
            self._counter(names.ATTEMPTS).add((attempt.engine, failed))

    def _observe_inference(self, m: Measurement, t: Timings) -> None:
        answer = answering(m)
        provider = m.attempts[-1].kind if m.attempts else OTHER
        source = "estimated" if m.tokens_estimated else "exact"
        error = "" if m.outcome == "ok" else m.outcome
        i = self._inference(m.operation, provider, m.model, error, source)
        observed = [(i.duration, float(t.duration_ns))]
        if answer is not None:
            observed += [
                (i.ttft, t.engine_ttft_ns),
                (i.tpot, t.tpot_ns),
                (i.tokens_in, m.input_tokens),
                (i.tokens_out, m.output_tokens),
            ]
        for slots, value in observed:
            if value >= 0:
                slots.observe(value)

    def _bind(
        self, method: str, path: str, status: int, error: str, route: str, model: str
    ) -> _Bound:
        method = method if method in _METHODS else OTHER
        return _Bound(
            http=self._slots(names.HTTP_DURATION, method, path, str(status), error),
            duration=self._slots(names.DURATION, route, model),
            overhead=self._slots(names.OVERHEAD, route),
            queue=self._slots(names.QUEUE, route),
            held=self._slots(names.HELD, route),
            caller_ttft=self._slots(names.CALLER_TTFT, route, model),
            gaps=self._slots(names.GAPS, route, model),
        )

    def _bind_inference(
        self, operation: str, provider: str, model: str, error: str, source: str
    ) -> _Inference:
        key = (operation, provider, model)
        return _Inference(
            duration=self._slots(names.REQUEST_DURATION, *key, error),
            ttft=self._slots(names.SERVER_TTFT, *key),
            tpot=self._slots(names.SERVER_TPOT, *key),
            tokens_in=self._slots(names.TOKEN_USAGE, *key, "input", source),
            tokens_out=self._slots(names.TOKEN_USAGE, *key, "output", source),
        )

    def _make(self, metric: names.Metric) -> None:
        match metric.kind:
            case "histogram":
                scale = _NS if metric.name.endswith("_seconds") else 1
                self._histograms[metric.name] = Histogram(metric, self.registry, scale)
            case "counter":
                self._counters[metric.name] = Counter(metric, self.registry)
            case _:
                self._gauges[metric.name] = Gauge(
                    metric.name, metric.help, metric.labels, registry=self.registry
                )

    def _slots(self, metric: names.Metric, *labels: str) -> Slots:
        return self._histograms[metric.name].labels(*labels)

    def _counter(self, metric: names.Metric) -> Counter:
        return self._counters[metric.name]

    def _gauge(self, metric: names.Metric) -> Gauge:
        return self._gauges[metric.name]
