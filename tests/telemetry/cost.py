"""What telemetry costs: `python -m tests.telemetry.cost` prints CPU microseconds a request.

Not a test: figures of a shared machine swing.  The best of several rounds is printed, for two
kinds of work: a chat streamed with 64 gaps, and one answered as plain JSON; each has four spans
(SERVER, CLIENT and two stages).  No two requests are one object or share a text that a caller
sends, so that caches are as cold as between requests of a real process.
"""

import random
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
from tests.telemetry.samples import MS, START, attempt, attributes, measurement

from tidegate.telemetry import Measurement, Metrics, Stage, Telemetry, TelemetryOptions
from tidegate.telemetry.otlp import OtlpProtocol, Target, open_exporter
from tidegate.telemetry.otlp_grpc import GrpcSpans
from tidegate.telemetry.otlp_http import HttpSpans
from tidegate.telemetry.spans import SpanEncoder
from tidegate.telemetry.timings import timings

ROUNDS = 7
BATCH = 512
Make = Callable[[random.Random], Measurement]


def fresh(text: str) -> str:
    """A new object of the same text."""
    return text.encode().decode()


def streamed(chance: random.Random) -> Measurement:
    """A chat streamed with 64 gaps around 20 ms, in no order."""
    return _varied(
        chance,
        gaps_ns=[round(chance.lognormvariate(3, 0.3) * MS) for _ in range(64)],
        output_tokens=65,
    )


def plain(chance: random.Random) -> Measurement:
    """A chat answered as one JSON document."""
    answer = attempt(last_token_ns=START + 104 * MS)  # all text at once
    return _varied(
        chance,
        stream=False,
        gaps_ns=[],
        held_bytes_max=0,
        held_bytes_total=0,
        attempts=[answer],
        output_tokens=chance.randrange(20, 900),
    )


def _varied(chance: random.Random, **changes: object) -> Measurement:
    m = measurement(findings={}, trace_state="", parent_span_id="", action="allow", **changes)
    start = START + chance.randrange(10**12)
    m.request_id = f"req_{chance.getrandbits(128):032x}"
    m.trace_id, m.span_id = f"{chance.getrandbits(128):032x}", f"{chance.getrandbits(64):016x}"
    m.attempts[0].span_id = f"{chance.getrandbits(64):016x}"
    m.input_tokens = chance.randrange(20, 4000)
    m.bytes_in, m.bytes_out = chance.randrange(300, 30_000), chance.randrange(300, 30_000)
    m.stages = [
        Stage("inspect.input", start, start + MS),
        Stage("wait.audit", start + MS, start + 2 * MS),
    ]
    for name in ("model_requested", "model_answered", "client_address", "user_agent", "method"):
        setattr(m, name, fresh(getattr(m, name)))
    return m


def each(
    make: Make,
    work: Callable[..., object],
    *first: Callable[[Measurement], object],
) -> float:
    """CPU microseconds of this thread for one request, best of ROUNDS; `first` is not counted."""
    best = float("inf")
    chance = random.Random(1)
    for _ in range(ROUNDS):
        made = [make(chance) for _ in range(BATCH)]
        batch = [(m, *(step(m) for step in first)) for m in made]
        before = time.thread_time_ns()
        for arguments in batch:
            work(*arguments)
        best = min(best, (time.thread_time_ns() - before) / BATCH / 1000)
    return best


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
    micros = each(plain, telemetry.settled)
    telemetry.shutdown(30)
    return micros


def sent(protocol: OtlpProtocol, make: Make) -> float:
    """The sender's share: wrapping, the SDK's exporter, its transport; for one request."""
    encoder = SpanEncoder({"service.name": "gate"}, "1")
    m = make(random.Random(1))
    parts = [encoder.encode(m, timings(m))] * BATCH
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

    m = streamed(random.Random(1))
    ours = ScopeSpans.FromString(encoder.encode(m, timings(m))).spans
    named = [(span.name, attributes(span)) for span in ours]
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "gate"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("x")

    def work() -> None:
        for name, pairs in named:
            span = tracer.start_span(name, kind=SpanKind.CLIENT, start_time=START)
            for key, value in pairs.items():
                span.set_attribute(key, value)  # type: ignore[arg-type]  # plain values
            span.end(START + MS)
        encode_spans(memory.get_finished_spans()).SerializeToString()
        memory.clear()

    return cost(work, 300)


def recorded(what: str, make: Make) -> None:
    """The recorder's share, by step."""
    encoder, metrics = SpanEncoder({"service.name": "gate"}, "1"), Metrics()
    show(f"{what}: timings", each(make, timings))
    show(f"{what}: metrics", each(make, metrics.observe, timings))
    show(f"{what}: encoding 4 spans", each(make, encoder.encode, timings))


def main() -> None:
    """Print all figures."""
    show("settled() in the event loop", settled())
    for make in (plain, streamed):
        recorded(make.__name__, make)
        for protocol in ("http/protobuf", "grpc"):
            show(f"{make.__name__}: sending by {protocol}, share of {BATCH}", sent(protocol, make))
    show("streamed: the same 4 spans as SDK objects, encoded, not sent", sdk_spans())
    for exporter in (HttpSpans, GrpcSpans):
        setattr(exporter, "ready", lambda _: False)  # noqa: B010 - mypy refuses the plain form
    show("fallback (public export) over HTTP, a request's share", sent("http/protobuf", streamed))
    show("fallback (public export) over gRPC, a request's share", sent("grpc", streamed))


if __name__ == "__main__":
    main()
