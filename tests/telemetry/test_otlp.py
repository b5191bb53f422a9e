from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from tests.receivers import free_port, grpc_collector, http_collector
from tests.telemetry.samples import measurement

from tidegate.telemetry import otlp
from tidegate.telemetry.otlp import GrpcSpans, HttpSpans, PublicPath, Target, open_exporter
from tidegate.telemetry.spans import SpanEncoder
from tidegate.telemetry.timings import timings


@pytest.fixture
def payload() -> bytes:
    encoder = SpanEncoder({"service.name": "gate"}, "1")
    m = measurement()
    return encoder.request([encoder.encode(m, timings(m))])


@pytest.fixture
def http() -> Iterator[HttpSpans]:
    exporter = open_exporter(Target("http/protobuf", "http://127.0.0.1:9"))
    assert isinstance(exporter, HttpSpans)
    yield exporter
    exporter.shutdown()


@pytest.fixture
def grpc() -> Iterator[GrpcSpans]:
    exporter = open_exporter(Target("grpc", "http://127.0.0.1:9"))
    assert isinstance(exporter, GrpcSpans)
    yield exporter
    exporter.shutdown()


def test_http_sends_encoded_spans_through_the_sdks_client(payload: bytes) -> None:
    with http_collector() as (endpoint, received):
        exporter = open_exporter(Target("http/protobuf", endpoint, {"X-Tenant": "a"}, timeout=5))
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert received.requests == [ExportTraceServiceRequest.FromString(payload)]
    assert received.headers[0][":path"] == "/v1/traces"
    assert received.headers[0]["x-tenant"] == "a"
    assert received.headers[0]["user-agent"].startswith("OTel-OTLP-Exporter-Python/")


def test_grpc_sends_encoded_spans_through_the_sdks_stub(payload: bytes) -> None:
    with grpc_collector() as (endpoint, received):
        exporter = open_exporter(Target("grpc", endpoint, {"X-Tenant": "a"}, timeout=5))
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert received.requests == [ExportTraceServiceRequest.FromString(payload)]
    assert received.headers[0]["x-tenant"] == "a"


def test_the_sdks_settings_in_the_environment_apply(
    payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_collector() as (endpoint, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
        exporter = open_exporter(Target("http/protobuf"))
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert received.headers[0]["x-key"] == "abc"


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_collector_that_is_not_there_takes_nothing(
    protocol: otlp.OtlpProtocol, payload: bytes
) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    exporter = open_exporter(Target(protocol, endpoint, timeout=0.2))

    assert not exporter.send(payload, 1)
    exporter.shutdown()


def test_a_batch_over_the_sdks_size_limit_is_not_sent(http: HttpSpans, payload: bytes) -> None:
    http._max_request_size = 10

    assert not http.send(payload, 1)


@pytest.mark.parametrize("name", ["_client", "_metrics", "_max_request_size"])
def test_http_needs_this_private_name_of_the_sdk(http: HttpSpans, name: str) -> None:
    assert http.ready()

    kept = getattr(http, name)
    delattr(http, name)
    assert not http.ready()
    setattr(http, name, kept)


@pytest.mark.parametrize("name", ["_translate_data", "_count_data", "_export"])
def test_grpc_needs_this_private_name_of_the_sdk(
    grpc: GrpcSpans, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert grpc.ready()

    monkeypatch.setattr(Grpc, name, None)
    assert not grpc.ready()


def test_grpc_still_exports_the_sdks_own_spans(grpc: GrpcSpans) -> None:
    assert grpc._count_data([object(), object()]) == 2
    assert grpc._translate_data([]).resource_spans == []


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_when_a_private_name_is_gone_spans_leave_by_the_public_way(
    protocol: otlp.OtlpProtocol, payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpSpans, "ready", lambda _: False)
    monkeypatch.setattr(GrpcSpans, "ready", lambda _: False)
    collector = grpc_collector if protocol == "grpc" else http_collector
    with collector() as (endpoint, received):
        exporter = open_exporter(Target(protocol, endpoint, timeout=5))
        assert isinstance(exporter, PublicPath)
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert [span.name for span in received.spans] == [
        "POST /v1/chat/completions",
        "chat gpt-oss",
        "inspect.input",
        "wait.audit",
    ]


def test_the_public_way_says_when_a_collector_takes_nothing(payload: bytes) -> None:
    class Refuses(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> Any:
            return SpanExportResult.FAILURE

    assert not PublicPath(Refuses()).send(payload, 1)


@pytest.mark.parametrize(
    "endpoint",
    ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"],
)
def test_a_base_url_and_a_complete_one_mean_the_same(endpoint: str) -> None:
    assert otlp.http_endpoint(endpoint) == "http://c:4318/v1/traces"


def test_a_setting_that_the_sdk_refuses_is_a_value_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "brotli")

    with pytest.raises(ValueError, match="brotli"):
        open_exporter(Target("grpc", "http://127.0.0.1:9"))
