import random
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status
from tests.telemetry.samples import (
    CALLER,
    CLIENT,
    MS,
    SECOND,
    SERVER,
    START,
    TRACE,
    attempt,
    attributes,
    measurement,
)

from tidegate.telemetry import Ids, Measurement, Stage
from tidegate.telemetry.names import SCHEMA_URL
from tidegate.telemetry.spans import SpanEncoder
from tidegate.telemetry.timings import timings


def exported(*measurements: Measurement) -> ResourceSpans:
    encoder = SpanEncoder({"service.name": "gate"}, "1.2.3", Ids(random.Random(1)))
    parts = [encoder.encode(m, timings(m)) for m in measurements]
    request = ExportTraceServiceRequest.FromString(encoder.request(parts))
    group: ResourceSpans = request.resource_spans[0]
    return group


def spans(**changes: Any) -> list[Span]:
    return list(exported(measurement(**changes)).scope_spans[0].spans)


def named(name: str, **changes: Any) -> Span:
    (span,) = [span for span in spans(**changes) if span.name == name]
    return span


def server(**changes: Any) -> Span:
    return spans(**changes)[0]


def client(**changes: Any) -> Span:
    return spans(**changes)[1]


def test_resource_scope_and_schema_stand_around_all_requests() -> None:
    group = exported(measurement(), measurement(sampled=True))
    (scoped,) = group.scope_spans

    assert group.resource.attributes[0].value.string_value == "gate"
    assert (scoped.scope.name, scoped.scope.version) == ("tidegate.telemetry", "1.2.3")
    assert scoped.schema_url == SCHEMA_URL
    assert len(scoped.spans) == 8


def test_the_server_span_continues_the_callers_trace() -> None:
    span = server()

    assert span.name == "POST /v1/chat/completions"
    assert span.kind == Span.SPAN_KIND_SERVER
    assert (span.trace_id.hex(), span.span_id.hex()) == (TRACE, SERVER)
    assert (span.parent_span_id.hex(), span.trace_state) == (CALLER, "congo=t61rcWkgMzE")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (START, START + SECOND)
    assert span.flags == 0x301
    assert span.status == Status()


def test_the_server_span_says_what_happened() -> None:
    assert attributes(server()) == {
        "http.request.method": "POST",
        "url.path": "/v1/chat/completions",
        "http.route": "/v1/chat/completions",
        "url.scheme": "http",
        "http.response.status_code": 200,
        "tidegate.route": "chat",
        "tidegate.dialect": "openai",
        "tidegate.tenant": "acme",
        "tidegate.principal": "alice",
        "tidegate.outcome": "ok",
        "tidegate.policy.action": "redact",
        "tidegate.request_id": "req-1",
        "http.request.body.size": 600,
        "http.response.body.size": 4000,
        "client.address": "192.0.2.1",
        "user_agent.original": "openai-python/3",
        "tidegate.time_to_first_byte": pytest.approx(0.105),
        "tidegate.time_to_first_token": pytest.approx(0.104),
        "tidegate.queue_time": pytest.approx(0.001),
        "tidegate.time_before_engine": pytest.approx(0.003),
        "tidegate.overhead": pytest.approx(0.093),
        "tidegate.held.bytes_max": 31,
        "tidegate.held.bytes_total": 400,
        "tidegate.findings.total": 3,
        "tidegate.findings.pii.email": 2,
        "tidegate.findings.secret.key": 1,
    }


def test_the_client_span_follows_the_genai_conventions() -> None:
    span = client()

    assert (span.name, span.kind) == ("chat gpt-oss", Span.SPAN_KIND_CLIENT)
    assert (span.span_id.hex(), span.parent_span_id.hex()) == (CLIENT, SERVER)
    assert (span.flags, span.trace_state) == (0x101, "congo=t61rcWkgMzE")
    assert attributes(span) == {
        "http.request.method": "POST",
        "server.address": "10.0.0.7",
        "server.port": 8000,
        "http.response.status_code": 200,
        "tidegate.engine": "gpu-1",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "vllm",
        "gen_ai.request.model": "gpt-oss",
        "gen_ai.response.model": "gpt-oss-20b",
        "gen_ai.request.stream": True,
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 9,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.response.time_to_first_chunk": pytest.approx(0.1),
        "tidegate.usage.source": "exact",
        "tidegate.time_to_first_token": pytest.approx(0.1),
        "tidegate.time_per_output_token": pytest.approx(0.1),
        "tidegate.inter_token.count": 9,
        "tidegate.inter_token.p50": pytest.approx(0.1),
        "tidegate.inter_token.p95": pytest.approx(0.11),
        "tidegate.inter_token.max": pytest.approx(0.11),
    }


def test_stages_are_children_of_the_server_span_with_their_own_attributes() -> None:
    inspection, waiting = spans()[2:]

    assert (inspection.name, waiting.name) == ("inspect.input", "wait.audit")
    assert {inspection.kind, waiting.kind} == {Span.SPAN_KIND_INTERNAL}
    assert {inspection.parent_span_id.hex(), waiting.parent_span_id.hex()} == {SERVER}
    assert inspection.span_id != waiting.span_id
    assert attributes(inspection) == {"tidegate.segments": 3}
    assert waiting.start_time_unix_nano == START + 2 * MS


def test_a_retry_is_a_span_of_its_own_and_only_the_answer_has_tokens() -> None:
    lost = attempt(span_id="2" * 16, status=0, error="connect", engine="gpu-0")

    _, first, second, *_ = spans(attempts=[lost, attempt()])

    assert first.status.code == Status.STATUS_CODE_ERROR
    assert attributes(first)["error.type"] == "connect"
    assert "gen_ai.usage.output_tokens" not in attributes(first)
    assert "http.request.resend_count" not in attributes(first)
    assert attributes(second)["http.request.resend_count"] == 1
    assert attributes(second)["gen_ai.usage.output_tokens"] == 9
    assert second.status == Status()


@pytest.mark.parametrize(
    ("status", "outcome", "error"),
    [
        (200, "ok", None),
        (403, "blocked", None),
        (499, "client_left", None),
        (200, "client_left", None),
        (503, "no_engine", "no_engine"),
        (200, "engine_failed", "engine_failed"),
        (500, "ok", "500"),
    ],
)
def test_only_our_own_fault_is_an_error_of_the_server(
    status: int, outcome: str, error: str | None
) -> None:
    span = server(status=status, outcome=outcome)

    assert attributes(span).get("error.type") == error
    assert (span.status.code == Status.STATUS_CODE_ERROR) == (error is not None)


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [(200, "", None), (200, "client_left", None), (404, "", "404"), (200, "stall", "stall")],
)
def test_an_engines_fault_is_an_error_of_its_try(status: int, code: str, error: str) -> None:
    span = client(attempts=[attempt(status=status, error=code)])

    assert attributes(span).get("error.type") == error
    assert (span.status.code == Status.STATUS_CODE_ERROR) == (error is not None)


def test_estimated_tokens_are_marked() -> None:
    estimated = attributes(client(tokens_estimated=True, cached_tokens=100, reasoning_tokens=4))

    assert estimated["tidegate.usage.source"] == "estimated"
    assert estimated["gen_ai.usage.cache_read.input_tokens"] == 100
    assert estimated["gen_ai.usage.reasoning.output_tokens"] == 4


def test_what_is_not_known_is_not_said() -> None:
    bare = measurement(
        stream=False,
        attempts=[attempt(first_byte_ns=0, first_token_ns=0)],
        gaps_ns=[],
        input_tokens=-1,
        output_tokens=-1,
        finish_reasons=[],
        findings={},
        held_bytes_total=0,
        client_address="",
        user_agent="",
        first_byte_ns=0,
        stages=[],
    )
    got = [set(attributes(span)) for span in exported(bare).scope_spans[0].spans]

    assert not {key for keys in got for key in keys if "token" in key or "usage" in key}
    assert not got[0] & {"client.address", "tidegate.findings.total", "tidegate.queue_time"}
    assert "gen_ai.request.stream" not in got[1]


def test_a_request_that_is_no_inference_has_a_plain_client_span() -> None:
    span = client(operation="", method="GET", model="", stream=False)

    assert span.name == "GET"
    assert "gen_ai.provider.name" not in attributes(span)


def test_an_unknown_model_is_not_in_a_spans_name_but_in_its_attributes() -> None:
    span = client(model="_OTHER", model_requested="my secret model")

    assert span.name == "chat"
    assert attributes(span)["gen_ai.request.model"] == "my secret model"


def test_a_trace_that_begins_here_has_no_parent() -> None:
    span = server(parent_span_id="", trace_state="")

    assert (span.parent_span_id, span.trace_state, span.flags) == (b"", "", 0x101)


def test_a_caller_that_was_not_followed_is_linked() -> None:
    span = server(parent_span_id="", link=f"00-{'a' * 32}-{'b' * 16}-01")

    assert [(link.trace_id.hex(), link.span_id.hex()) for link in span.links] == [
        ("a" * 32, "b" * 16)
    ]
    assert not server(link="nonsense").links


def test_callers_texts_are_cut() -> None:
    long = "x" * 5000
    got = attributes(server(user_agent=long)) | attributes(client(model_requested=long))

    assert len(str(got["user_agent.original"])) == 256
    assert len(str(got["gen_ai.request.model"])) == 256


def test_a_stage_of_any_size_is_framed_right() -> None:
    many: dict[str, str | int | float | bool] = {f"tidegate.k{n}": "v" * 250 for n in range(100)}
    stage = Stage("inspect.output", START, START + 1, many)

    assert attributes(named("inspect.output", stages=[stage])) == many


@pytest.mark.parametrize("trace_id", ["not an id", "0" * 31 + "g", "0" * 31 + "\u0661"])
def test_an_id_that_is_not_hexadecimal_is_refused(trace_id: str) -> None:
    with pytest.raises(ValueError, match=r"hexadecimal|Odd-length|ASCII"):
        spans(trace_id=trace_id)


def test_stages_of_the_same_name_are_framed_by_what_they_carry() -> None:
    stage = Stage("wait.audit", START, START + 1)
    told = Stage("wait.audit", START, START + 1, {"k": "v"})
    encoder = SpanEncoder({}, "1")
    for state in ("", "a=b", "a=" + "b" * 200):
        m = measurement(trace_state=state, stages=[stage, told, stage])
        request = ExportTraceServiceRequest.FromString(
            encoder.request([encoder.encode(m, timings(m))])
        )
        stages = request.resource_spans[0].scope_spans[0].spans[2:]

        assert {span.trace_state for span in stages} == {state}
        assert [attributes(span) for span in stages] == [{}, {"k": "v"}, {}]
        assert len({span.span_id for span in stages}) == 3
