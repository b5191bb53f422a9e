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
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from .. import __version__
from . import names
from .instruments import Cell, Counter, Histogram, Slots
from .measurement import Measurement
from .names import OTHER
from .spans import attempt_error, server_error
from .timings import Timings

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""What `render` returns, for the Content-Type header."""

_NS: Final = 1e-9
_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
)
_BOUND_MAX: Final = 1024

_Key = tuple[str, str, int, str, str, str, str, str, str, bool]
"""A _Request as a plain tuple, which is faster to make."""


class _Request(NamedTuple):
    """What says which instruments a request is counted by."""

    method: str
    path: str
    status: int
    outcome: str
    action: str
    route: str
    model: str
    operation: str
    provider: str
    estimated: bool


@dataclass(slots=True)
class _Bound:
    """The instruments of one kind of request, looked up once."""

    durations: tuple[Slots, ...]
    overhead: Slots
    queue: Slots
    held: Slots
    caller_ttft: Slots
    gaps: Slots
    ends: tuple[Cell, ...]
    inference: "_Inference | None"


@dataclass(slots=True)
class _Inference:
    """The instruments of an answer to an inference."""

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
        self._tries = lru_cache(_BOUND_MAX)(self._bind_try)
        self._gauge(names.BUILD).labels(__version__, platform.python_version()).set(1)
        for reason in ("queue_full", "export_queue_full", "export_failed", "encode", "shutdown"):
            self.dropped(reason, 0)  # a counter that is not there cannot be alerted on
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def observe(self, m: Measurement, t: Timings) -> None:
        """Count one finished request."""
        attempts = m.attempts
        key = (
            m.method,
            m.path,
            m.status,
            m.outcome,
            m.action,
            m.route,
            m.model,
            m.operation,
            attempts[-1].kind if attempts else OTHER,
            m.tokens_estimated,
        )
        with self._lock:
            b = self._bound(key)
            self._observe_request(b, m, t)
            if b.inference is not None and t.answer is not None:
                self._observe_answer(b.inference, m, t)
            for attempt in attempts:
                self._tries((attempt.engine, attempt.status, attempt.error)).value += 1
            for kind, count in m.findings.items():
                self._counter(names.FINDINGS).labels(kind).value += count

    def render(self) -> bytes:
        """Return everything in the Prometheus text format 0.0.4."""
        with self._lock:
            return generate_latest(self.registry)

    def dropped(self, reason: str, amount: int = 1) -> None:
        """Count requests whose telemetry was lost."""
        with self._lock:
            self._counter(names.DROPPED).labels(reason).value += amount

    def engine_up(self, engine: str, *, up: bool) -> None:
        """Say whether the probe of an engine finds it well."""
        self._gauge(names.ENGINE_UP).labels(engine).set(up)

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

    @staticmethod
    def _observe_request(b: _Bound, m: Measurement, t: Timings) -> None:
        if t.duration_ns >= 0:
            for slots in b.durations:
                slots.observe(t.duration_ns)
            b.overhead.observe(t.overhead_ns)
        b.queue.observe(t.queue_ns)
        if m.stream:
            b.held.observe(m.held_bytes_max)
        if t.caller_ttft_ns >= 0:
            b.caller_ttft.observe(t.caller_ttft_ns)
        if t.gaps_ns:
            b.gaps.observe_sorted(t.gaps_ns)
        for cell in b.ends:
            cell.value += 1

    @staticmethod
    def _observe_answer(i: _Inference, m: Measurement, t: Timings) -> None:
        if t.engine_ttft_ns >= 0:
            i.ttft.observe(t.engine_ttft_ns)
        if t.tpot_ns >= 0:
            i.tpot.observe(t.tpot_ns)
        if m.input_tokens >= 0:
            i.tokens_in.observe(m.input_tokens)
        if m.output_tokens >= 0:
            i.tokens_out.observe(m.output_tokens)

    def _bind(self, key: _Key) -> _Bound:
        r = _Request(*key)
        method = r.method if r.method in _METHODS else OTHER
        error = server_error(r.status, r.outcome)
        durations = [
            self._slots(names.HTTP_DURATION, method, r.path, str(r.status), error),
            self._slots(names.DURATION, r.route, r.model),
        ]
        inference = None
        if r.operation:
            gen_ai = (r.operation, r.provider, r.model)
            end = "" if r.outcome == "ok" else r.outcome
            durations.append(self._slots(names.REQUEST_DURATION, *gen_ai, end))
            inference = self._bind_inference(gen_ai, "estimated" if r.estimated else "exact")
        return _Bound(
            durations=tuple(durations),
            overhead=self._slots(names.OVERHEAD, r.route),
            queue=self._slots(names.QUEUE, r.route),
            held=self._slots(names.HELD, r.route),
            caller_ttft=self._slots(names.CALLER_TTFT, r.route, r.model),
            gaps=self._slots(names.GAPS, r.route, r.model),
            ends=(
                self._counter(names.REQUESTS).labels(r.route, r.outcome),
                self._counter(names.ACTIONS).labels(r.route, r.action),
            ),
            inference=inference,
        )

    def _bind_inference(self, gen_ai: tuple[str, str, str], source: str) -> _Inference:
        return _Inference(
            ttft=self._slots(names.SERVER_TTFT, *gen_ai),
            tpot=self._slots(names.SERVER_TPOT, *gen_ai),
            tokens_in=self._slots(names.TOKEN_USAGE, *gen_ai, "input", source),
            tokens_out=self._slots(names.TOKEN_USAGE, *gen_ai, "output", source),
        )

    def _bind_try(self, key: tuple[str, int, str]) -> Cell:
        engine, status, error = key
        return self._counter(names.ATTEMPTS).labels(engine, attempt_error(status, error))

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
