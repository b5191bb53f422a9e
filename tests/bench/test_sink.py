from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.bench.sink import LENGTH_BYTES, count_spans


def export(spans: int) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for _ in range(spans):
        scope.spans.add()
    data: bytes = request.SerializeToString()
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def test_the_spans_of_all_exports_are_counted() -> None:
    assert count_spans(export(2) + export(0) + export(3)) == 5


def test_nothing_received_is_no_span() -> None:
    assert count_spans(b"") == 0
