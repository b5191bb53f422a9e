from collections.abc import Iterator

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.receivers import grpc_collector

from tidegate.telemetry.otlp import Target
from tidegate.telemetry.otlp_grpc import GrpcSpans, open_grpc


@pytest.fixture
def grpc() -> Iterator[GrpcSpans]:
    exporter = open_grpc(Target("grpc", "http://127.0.0.1:9"))
    yield exporter
    exporter.shutdown()


def test_grpc_sends_encoded_spans_through_the_sdks_stub(payload: bytes) -> None:
    with grpc_collector() as (endpoint, received):
        exporter = open_grpc(Target("grpc", endpoint, {"X-Tenant": "a"}, timeout=5))
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert received.requests == [ExportTraceServiceRequest.FromString(payload)]
    assert received.headers[0]["x-tenant"] == "a"


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


def test_a_setting_that_the_sdk_refuses_is_a_value_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "brotli")

    with pytest.raises(ValueError, match="brotli"):
        open_grpc(Target("grpc", "http://127.0.0.1:9"))
