import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.receivers import PATIENCE, Received, free_port, grpc_collector, http_collector, http_tap
from tests.telemetry.samples import CALLER, SERVER, TRACE, attributes, measurement

from tidegate.telemetry import Telemetry, TelemetryOptions
from tidegate.telemetry import setup as telemetry_setup
from tidegate.telemetry.context import ContextReader, Ids
from tidegate.telemetry.metrics import Metrics
from tidegate.telemetry.otlp import OtlpProtocol
from tidegate.telemetry.sender import Limits

Start = Callable[..., Telemetry]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Telemetry] = []

    def _start(environ: dict[str, str] | None = None, **options: Any) -> Telemetry:
        settings = TelemetryOptions(**{"export_interval": 0.01, **options})
        telemetry = Telemetry.start(settings, environ=environ or {})
        started.append(telemetry)
        return telemetry

    yield _start
    for telemetry in started:
        telemetry.shutdown(0)


def count(telemetry: Telemetry, name: str, **labels: str) -> float | None:
    telemetry.metrics_text()
    return telemetry.metrics.registry.get_sample_value(name, labels)


def lost(telemetry: Telemetry, reason: str) -> float | None:
    return count(telemetry, "tidegate_telemetry_dropped_total", reason=reason)


def threads(prefix: str) -> int:
    return sum(thread.name.startswith(prefix) for thread in threading.enumerate())


def test_oteltap_receives_a_request_joined_to_the_callers_trace(start: Start) -> None:
    with http_tap() as tap:
        telemetry = start(endpoint=tap.endpoint)
        telemetry.settled(measurement())
        spans = {span.name: span for span in tap.spans(4)}

    assert set(spans) == {
        *("POST /v1/chat/completions", "chat gpt-oss", "inspect.input", "wait.audit")
    }
    assert {span.trace_id.hex() for span in spans.values()} == {TRACE}
    assert spans["POST /v1/chat/completions"].parent_span_id.hex() == CALLER
    assert spans["chat gpt-oss"].parent_span_id.hex() == SERVER
    assert attributes(spans["chat gpt-oss"])["gen_ai.usage.output_tokens"] == 9


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_many_requests_arrive_in_batches(start: Start, protocol: OtlpProtocol) -> None:
    collector = grpc_collector if protocol == "grpc" else http_collector
    with collector() as (endpoint, received):
        telemetry = start(endpoint=endpoint, protocol=protocol, max_batch=20)
        for n in range(100):
            telemetry.settled(measurement(request_id=f"req-{n}"))
        telemetry.shutdown(PATIENCE)
        ids = _request_ids(received)

    assert ids == {f"req-{n}" for n in range(100)}
    assert len(received.requests) < 100
    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 100
    assert sum(lost(telemetry, r) or 0 for r in ("export_failed", "shutdown")) == 0


def test_what_was_settled_before_the_thread_had_its_turn_is_recorded_too() -> None:
    telemetry = Telemetry(Metrics(), Limits(), None, None, ContextReader(Ids()))
    telemetry.settled(measurement())
    telemetry._closing = True
    telemetry._run()

    assert not telemetry._queue


def test_the_resource_says_who_sends(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod")
    with http_collector() as (endpoint, received):
        start(endpoint=endpoint).settled(measurement())
        start(endpoint=endpoint, service_name="gate").settled(measurement())
        start({"OTEL_SERVICE_NAME": "named"}, endpoint=endpoint).settled(measurement())
        received.wait(12)
        resources = [
            {pair.key: pair.value.string_value for pair in group.resource.attributes}
            for request in received.requests
            for group in request.resource_spans
        ]

    assert {r["service.name"] for r in resources} == {"tidegate", "gate", "named"}
    assert {r["deployment.environment.name"] for r in resources} == {"prod"}
    assert len({r["service.instance.id"] for r in resources}) == 3


def test_a_name_among_the_resource_attributes_is_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=from-attributes")
    with http_collector() as (endpoint, received):
        start(endpoint=endpoint).settled(measurement())
        received.wait(4)

    pairs = received.requests[0].resource_spans[0].resource.attributes
    assert {p.value.string_value for p in pairs if p.key == "service.name"} == {"from-attributes"}


def test_the_text_counts_requests_that_settled_just_now(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_setup, "_GATHER_SECONDS", PATIENCE)
    telemetry = start()
    for _ in range(40):
        telemetry.settled(measurement())

    assert b'tidegate_requests_total{outcome="ok",route="chat"} 40.0' in telemetry.metrics_text()


def test_without_an_endpoint_there_is_no_exporter_but_metrics(start: Start) -> None:
    before = threads("telemetry-sender")
    telemetry = start()
    telemetry.settled(measurement())

    assert threads("telemetry-sender") == before
    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 1
    assert not telemetry.contexts.read().sampled
    assert telemetry.contexts.read([f"00-{TRACE}-{CALLER}-01"]).sampled


def test_with_an_endpoint_traces_begin_here_at_the_given_ratio(start: Start) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"

    assert start(endpoint=endpoint).contexts.read().sampled
    assert not start(endpoint=endpoint, sample_ratio=0.0).contexts.read().sampled
    assert not start(endpoint=endpoint, trust_callers=False).contexts.trust


def test_an_unsampled_request_is_counted_but_not_exported(start: Start) -> None:
    with http_collector() as (endpoint, received):
        telemetry = start(endpoint=endpoint)
        telemetry.settled(measurement(sampled=False))
        telemetry.settled(measurement(request_id="kept"))
        telemetry.shutdown(PATIENCE)

    assert _request_ids(received) == {"kept"}
    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 2


def test_a_collector_that_is_down_loses_only_spans_and_they_are_counted(start: Start) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    telemetry = start(endpoint=endpoint, timeout=0.05, max_batch=10)
    for _ in range(10):
        telemetry.settled(measurement())
    _until(lambda: lost(telemetry, "export_failed") == 10)

    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 10


def test_a_collector_that_refuses_loses_what_it_was_sent(start: Start) -> None:
    with http_collector(status=lambda: 400) as (endpoint, received):
        telemetry = start(endpoint=endpoint)
        telemetry.settled(measurement())
        _until(lambda: lost(telemetry, "export_failed") == 1)

    assert received.spans == []


def test_a_collector_that_recovers_gets_what_comes_then(start: Start) -> None:
    answers = iter([400])
    with http_collector(status=lambda: next(answers, 200)) as (endpoint, received):
        telemetry = start(endpoint=endpoint)
        telemetry.settled(measurement(request_id="lost"))
        _until(lambda: lost(telemetry, "export_failed") == 1)
        telemetry.settled(measurement(request_id="kept"))
        received.wait(4)

    assert _request_ids(received) == {"kept"}


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_hanging_collector_blocks_neither_the_loop_nor_the_end(
    start: Start, protocol: OtlpProtocol
) -> None:
    collector = grpc_collector if protocol == "grpc" else http_collector
    with collector(hangs=True) as (endpoint, _):
        telemetry = start(endpoint=endpoint, protocol=protocol, max_batch=1, max_queue=8)
        for _ in range(30):
            telemetry.settled(measurement())
            telemetry.metrics_text()
        before = time.monotonic()
        telemetry.shutdown(0.1)
        took = time.monotonic() - before

    assert took < PATIENCE / 2
    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 30
    spans_lost = sum(
        lost(telemetry, reason) or 0
        for reason in ("shutdown", "export_queue_full", "export_failed")
    )
    assert spans_lost == 30


def test_a_queue_that_is_full_refuses_and_counts(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_setup, "_GATHER_SECONDS", PATIENCE)
    telemetry = start(max_queue=5)
    with telemetry._recording:  # the recorder cannot run
        for _ in range(12):
            telemetry.settled(measurement())

    assert lost(telemetry, "queue_full") == 7
    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 5


def test_a_slice_ends_in_time_and_records_one_request_at_least(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_setup, "_GATHER_SECONDS", PATIENCE)
    monkeypatch.setattr(telemetry_setup, "_SLICE_NS", 0)
    telemetry = start()
    for _ in range(3):
        telemetry.settled(measurement())
    slices = [telemetry._record_slice() for _ in range(4)]

    assert slices == [True, True, True, False]
    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 3


def test_whoever_brings_the_last_of_several_records_them(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_setup, "_GATHER_SECONDS", PATIENCE)
    telemetry = start()
    left = []
    for _ in range(telemetry_setup._GATHER + 1):
        telemetry.settled(measurement())
        left.append(len(telemetry._queue))

    assert left == [*range(1, telemetry_setup._GATHER), 0, 1]


def test_a_few_are_recorded_after_a_while(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry_setup, "_GATHER_SECONDS", 0.001)
    telemetry = start()
    for _ in range(2):
        telemetry.settled(measurement())
        _until(lambda: not telemetry._queue)

    assert count(telemetry, "tidegate_requests_total", route="chat", outcome="ok") == 2


def test_an_odd_measurement_is_lost_alone(start: Start) -> None:
    with http_collector() as (endpoint, received):
        telemetry = start(endpoint=endpoint)
        with capture_logs() as logs:
            telemetry.settled(measurement(trace_id="not hexadecimal"))
            telemetry.settled(measurement(gaps_ns=[1, None]))
            telemetry.settled(measurement(request_id="kept"))
            telemetry.shutdown(PATIENCE)

    assert _request_ids(received) == {"kept"}
    assert lost(telemetry, "encode") == 2
    assert {line["event"] for line in logs} == {"telemetry.encode_failed"}


def test_what_settles_after_the_end_is_counted_as_lost(start: Start) -> None:
    telemetry = start()
    telemetry.shutdown(PATIENCE)
    telemetry.settled(measurement())
    telemetry.shutdown(PATIENCE)

    assert lost(telemetry, "shutdown") == 1


def test_settings_that_make_no_sense_are_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="max_queue"):
        Telemetry.start(TelemetryOptions(max_queue=0), environ={})


def _request_ids(received: Received) -> set[object]:
    found = (attributes(span).get("tidegate.request_id") for span in received.spans)
    return {request_id for request_id in found if request_id}


def _until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < until
        threading.Event().wait(0.002)
