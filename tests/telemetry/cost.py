"""What telemetry costs: `python -m tests.telemetry.cost` prints CPU microseconds a request.

Not a test: figures of a shared machine swing.  The best of several rounds is printed; the work is
a streamed chat with 64 gaps (SERVER, CLIENT and two stages).
"""

import sys
import time
from collections.abc import Callable

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from tests.receivers import grpc_collector, http_collector
from tests.telemetry.samples import MS, START, attributes, measurement

from tidegate.telemetry import Metrics, Telemetry, TelemetryOptions
from tidegate.telemetry.otlp import OtlpProtocol, Target, open_exporter
from tidegate.telemetry.otlp_grpc import GrpcSpans
from tidegate.telemetry.otlp_http import HttpSpans
from tidegate.telemetry.spans import SpanEncoder
from tidegate.telemetry.timings import timings

ROUNDS = 7
BATCH = 256
SAMPLE = measurement(gaps_ns=[20 * MS + n * 1000 for n in range(64)], output_tokens=65)
T = timings(SAMPLE)


def cost(work: Callable[[], object], times: int) -> float:
    """CPU microseconds of this thread for one call, best of ROUNDS."""
    best = float("inf")
    for _ in range(ROUNDS):
        before = time.thread_time_ns()
        for _ in range(times):
            work()
        best = min(best, (time.thread_time_ns() - before) / times / 1000)
    return best


def show(what: str, micros: float) -> None:
    sys.stdout.write(f"{micros:8.2f} us  {what}\n")


def settled() -> float:
    """The event loop's share."""
    telemetry = Telemetry.start(TelemetryOptions(max_queue=10_000_000), environ={})
    micros = cost(lambda: telemetry.settled(SAMPLE), 2000)
    telemetry.shutdown(30)
    return micros


def sent(protocol: OtlpProtocol) -> float:
    """The sender's share: wrapping, the SDK's exporter, its transport; for one request."""
    encoder = SpanEncoder({"service.name": "gate"}, "1")
    parts = [encoder.encode(SAMPLE, T)] * BATCH
    collector = grpc_collector if protocol == "grpc" else http_collector
    with collector() as (endpoint, received):
        exporter = open_exporter(Target(protocol, endpoint, timeout=10))

        def work() -> None:
            assert exporter.send(encoder.request(parts), BATCH)
            received.requests.clear()

        micros = cost(work, 20) / BATCH
        exporter.shutdown()
    return micros


def sdk_spans() -> float:
    """The same four spans made as the SDK's objects with explicit times, and encoded."""
    encoder = SpanEncoder({"service.name": "gate"}, "1")
    from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans  # noqa: PLC0415 - only here

    ours = ScopeSpans.FromString(encoder.encode(SAMPLE, T)).spans
    plain = [(span.name, attributes(span)) for span in ours]
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "gate"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("x")

    def work() -> None:
        for name, pairs in plain:
            span = tracer.start_span(name, kind=SpanKind.CLIENT, start_time=START)
            for key, value in pairs.items():
                span.set_attribute(key, value)  # type: ignore[arg-type]  # plain values
            span.end(START + MS)
        encode_spans(memory.get_finished_spans()).SerializeToString()
        memory.clear()

    return cost(work, 300)


def main() -> None:
    """Print all figures."""
    encoder, metrics = SpanEncoder({"service.name": "gate"}, "1"), Metrics()
    show("settled() in the event loop", settled())
    show("timings", cost(lambda: timings(SAMPLE), 2000))
    show("metrics of a request with 64 gaps", cost(lambda: metrics.observe(SAMPLE, T), 2000))
    show("encoding 4 spans", cost(lambda: encoder.encode(SAMPLE, T), 2000))
    show("sending over HTTP, a request's share of 256", sent("http/protobuf"))
    show("sending over gRPC, a request's share of 256", sent("grpc"))
    show("the same 4 spans as SDK objects, encoded, not sent", sdk_spans())
    for exporter in (HttpSpans, GrpcSpans):
        setattr(exporter, "ready", lambda _: False)  # noqa: B010 - mypy refuses the plain form
    show("fallback (public export) over HTTP, a request's share", sent("http/protobuf"))
    show("fallback (public export) over gRPC, a request's share", sent("grpc"))


if __name__ == "__main__":
    main()
