"""Spans of real requests at real receivers, joined to the caller's trace and the engine's."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.fakes.answers import Reset, apart, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import frame, role, says, talk
from tests.gates import hello, proxied
from tests.receivers import Received, free_port, grpc_collector, http_collector, http_tap

Collector = Callable[[], AbstractContextManager[tuple[str, Received]]]

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "vendor=1"}


def telemetry(endpoint: str, protocol: str = "http/protobuf") -> dict[str, Any]:
    return {"otlp": {"endpoint": endpoint, "protocol": protocol, "timeout": "2s"}}


def attributes(span: Span) -> dict[str, Any]:
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value")
        for pair in span.attributes
    }


def of_kind(spans: list[Span], kind: Span.SpanKind.ValueType) -> list[Span]:
    return [span for span in spans if span.kind == kind]


@pytest.mark.parametrize(
    ("collector", "protocol"),
    [(http_collector, "http/protobuf"), (grpc_collector, "grpc")],
    ids=["HTTP", "gRPC"],
)
async def test_a_streams_spans_join_the_callers_trace_and_the_engine_joins_them(
    tmp_path: Path, fake_engine: FakeEngine, collector: Collector, protocol: str
) -> None:
    fake_engine.then(stream(*apart(*talk(["One", " two", " three"]))))
    with collector() as (endpoint, received):
        async with proxied(
            tmp_path, fake_engine, telemetry=telemetry(endpoint, protocol)
        ) as proxy:
            await proxy.stream(hello(stream=True), headers=HEADERS)
            [told] = await proxy.settled()
        spans = await asyncio.to_thread(received.wait, 2)
    [server] = of_kind(spans, Span.SPAN_KIND_SERVER)
    [client] = of_kind(spans, Span.SPAN_KIND_CLIENT)
    facts, asked = attributes(server), attributes(client)
    [call] = fake_engine.calls

    assert {span.trace_id.hex() for span in spans} == {TRACE}
    assert server.parent_span_id.hex() == CALLER
    assert client.parent_span_id == server.span_id
    assert call.header("traceparent") == f"00-{TRACE}-{client.span_id.hex()}-01"
    assert call.header("tracestate") == "vendor=1"
    assert facts["tidegate.request_id"] == told.request_id
    assert facts["http.response.status_code"] == 200
    assert facts["tidegate.outcome"] == "ok"
    assert facts["tidegate.time_to_first_token"] > 0
    assert asked["tidegate.inter_token.count"] == 2
    assert asked["tidegate.inter_token.max"] >= asked["tidegate.inter_token.p50"]
    assert asked["tidegate.time_to_first_token"] > 0
    assert (asked["gen_ai.usage.input_tokens"], asked["gen_ai.usage.output_tokens"]) == (9, 3)
    assert asked["tidegate.engine"] == "a"
    assert asked["server.port"] == fake_engine.port
    assert server.start_time_unix_nano <= client.start_time_unix_nano
    assert client.end_time_unix_nano <= server.end_time_unix_nano


async def test_a_second_independent_receiver_reads_the_spans_too(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    with http_tap() as tap:
        async with proxied(tmp_path, fake_engine, telemetry=telemetry(tap.endpoint)) as proxy:
            await proxy.ask(hello(), headers=HEADERS)
        spans = await asyncio.to_thread(tap.spans, 2)

    assert {span.trace_id.hex() for span in spans} == {TRACE}


async def test_each_attempt_is_a_span_of_its_own(tmp_path: Path, fake_engine: FakeEngine) -> None:
    fake_engine.then((Reset(),))
    with http_collector() as (endpoint, received):
        async with (
            FakeEngine() as other,
            proxied(tmp_path, fake_engine, other, telemetry=telemetry(endpoint)) as proxy,
        ):
            await proxy.ask(hello())
        spans = await asyncio.to_thread(received.wait, 3)
    first, second = sorted(
        of_kind(spans, Span.SPAN_KIND_CLIENT), key=lambda span: span.start_time_unix_nano
    )

    assert attributes(first)["error.type"] == "reset"
    assert attributes(second)["http.request.resend_count"] == 1
    assert "error.type" not in attributes(second)
    parents = [
        str(call.header("traceparent")).split("-")[2]
        for call in (fake_engine.calls[0], other.calls[0])
    ]
    assert parents == [first.span_id.hex(), second.span_id.hex()]


async def test_a_failed_stream_is_an_error_in_its_span(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*apart(frame(role()), frame(says("Hello"))), end=(Reset(),)))
    with http_collector() as (endpoint, received):
        async with proxied(tmp_path, fake_engine, telemetry=telemetry(endpoint)) as proxy:
            await proxy.stream(hello(stream=True))
        spans = await asyncio.to_thread(received.wait, 2)
    [server] = of_kind(spans, Span.SPAN_KIND_SERVER)

    assert server.status.code == server.status.STATUS_CODE_ERROR
    assert attributes(server)["tidegate.outcome"] == "engine_failed"


async def test_a_malformed_traceparent_begins_a_trace(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        await proxy.ask(hello(), headers={"traceparent": "00-xyz-1-01"})
        [told] = await proxy.settled()
    [call] = fake_engine.calls

    assert told.parent_span_id == ""
    assert str(call.header("traceparent")).split("-")[1] == told.trace_id


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_a_collector_that_is_down_costs_the_requests_nothing(
    tmp_path: Path, fake_engine: FakeEngine, protocol: str
) -> None:
    settings = telemetry(f"http://127.0.0.1:{free_port()}", protocol)
    settings["otlp"]["timeout"] = "200ms"
    async with proxied(tmp_path, fake_engine, telemetry=settings) as proxy:
        statuses = [(await proxy.ask(hello()))[0] for _ in range(20)]

    assert statuses == [200] * 20


async def test_a_collector_that_hangs_costs_the_requests_nothing(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    with http_collector(hangs=True) as (endpoint, _):
        settings = telemetry(endpoint)
        settings["otlp"]["timeout"] = "200ms"
        async with proxied(tmp_path, fake_engine, telemetry=settings) as proxy:
            statuses = [(await proxy.ask(hello()))[0] for _ in range(20)]

    assert statuses == [200] * 20


async def test_the_same_figures_are_on_the_metrics_page(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        await proxy.stream(hello(stream=True))
        await proxy.ask({"model": "m"})
        await proxy.settled(2)
        async with proxy.http.get(proxy.gate.url("admin") + "/metrics") as answer:
            page = await answer.text()
            server = answer.headers["Server"]

    assert server == "tidegate"
    assert 'tidegate_engine_up{engine="a"} 1.0' in page
    assert "gen_ai_server_time_to_first_token_seconds_count" in page
    assert "tidegate_audit_log_up 1.0" in page
