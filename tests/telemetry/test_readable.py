from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.telemetry.samples import attempt, measurement

from tidegate.telemetry.readable import readable
from tidegate.telemetry.spans import SpanEncoder
from tidegate.telemetry.timings import timings


def test_the_sdks_own_encoder_gives_back_what_we_encoded() -> None:
    encoder = SpanEncoder({"service.name": "gate", "n": 3}, "1.2.3")
    measurements = [
        measurement(attempts=[attempt(status=0, error="reset"), attempt()]),
        measurement(parent_span_id="", trace_state="", link=f"00-{'a' * 32}-{'b' * 16}-01"),
    ]
    parts = [encoder.encode(m, timings(m)) for m in measurements]
    ours = ExportTraceServiceRequest.FromString(encoder.request(parts))

    theirs = encode_spans(readable(ours))

    assert theirs.resource_spans[0].resource == ours.resource_spans[0].resource
    assert (
        theirs.resource_spans[0].scope_spans[0].scope
        == ours.resource_spans[0].scope_spans[0].scope
    )
    expected = ours.resource_spans[0].scope_spans[0].spans
    for span in expected:
        span.flags &= 0x300  # the SDK writes no trace flags there
        span.status.SetInParent()
    got = theirs.resource_spans[0].scope_spans[0].spans
    for span in got:
        for link in span.links:
            link.flags = 0x301 if link.flags == 0x300 else link.flags
    for span in expected:
        for link in span.links:
            assert link.flags == 0x301
    assert list(expected) == list(got)
