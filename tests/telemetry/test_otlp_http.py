from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.receivers import http_collector

from tidegate.telemetry.otlp import Target
from tidegate.telemetry.otlp_http import HttpSpans, http_endpoint, open_http


@pytest.fixture
def http() -> Iterator[HttpSpans]:
    exporter = open_http(Target("http/protobuf", "http://127.0.0.1:9"))
    yield exporter
    exporter.shutdown()


def test_http_sends_encoded_spans_through_the_sdks_client(payload: bytes) -> None:
    with http_collector() as (endpoint, received):
        exporter = open_http(Target("http/protobuf", endpoint, {"X-Tenant": "a"}, timeout=5))
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert received.requests == [ExportTraceServiceRequest.FromString(payload)]
    assert received.headers[0][":path"] == "/v1/traces"
    assert received.headers[0]["x-tenant"] == "a"
    assert received.headers[0]["user-agent"].startswith("OTel-OTLP-Exporter-Python/")


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


@pytest.mark.parametrize(
    "endpoint",
    ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"],
)
def test_a_base_url_and_a_complete_one_mean_the_same(endpoint: str) -> None:
    assert http_endpoint(endpoint) == "http://c:4318/v1/traces"
