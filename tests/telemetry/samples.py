"""One streamed chat with all its figures, and ways to vary it."""

from typing import Any

from msgspec.structs import replace
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tidegate.telemetry import Attempt, Measurement, Stage

SECOND = 1_000_000_000
MS = 1_000_000
START = 1_000 * SECOND
TRACE = "0af7651916cd43dd8448eb211c80319c"
SERVER = "00f067aa0ba902b7"
CALLER = "b7ad6b7169203331"
CLIENT = "1111111111111111"


def attempt(**changes: Any) -> Attempt:
    """One good try: sent at 4 ms, first text at 104 ms, last at 904 ms."""
    good = Attempt(
        span_id=CLIENT,
        engine="gpu-1",
        kind="vllm",
        address="10.0.0.7",
        port=8000,
        start_ns=START + 3 * MS,
        end_ns=START + 910 * MS,
        status=200,
        sent_ns=START + 4 * MS,
        first_byte_ns=START + 103 * MS,
        first_token_ns=START + 104 * MS,
        last_token_ns=START + 904 * MS,
    )
    return replace(good, **changes)


def measurement(**changes: Any) -> Measurement:
    """A streamed chat of one second with 9 tokens, 100 ms apart."""
    whole = Measurement(
        request_id="req-1",
        trace_id=TRACE,
        span_id=SERVER,
        parent_span_id=CALLER,
        trace_state="congo=t61rcWkgMzE",
        sampled=True,
        method="POST",
        path="/v1/chat/completions",
        dialect="openai",
        operation="chat",
        route="chat",
        tenant="acme",
        principal="alice",
        model_requested="gpt-oss",
        model="gpt-oss",
        model_answered="gpt-oss-20b",
        stream=True,
        status=200,
        outcome="ok",
        action="redact",
        start_ns=START,
        end_ns=START + SECOND,
        first_byte_ns=START + 105 * MS,
        attempts=[attempt()],
        stages=[
            Stage("inspect.input", START, START + 2 * MS, {"tidegate.segments": 3}),
            Stage("wait.audit", START + 2 * MS, START + 3 * MS),
        ],
        input_tokens=120,
        output_tokens=9,
        gaps_ns=[100 * MS] * 7 + [90 * MS, 110 * MS],
        held_bytes_max=31,
        held_bytes_total=400,
        bytes_in=600,
        bytes_out=4000,
        finish_reasons=["stop"],
        findings={"pii.email": 2, "secret.key": 1},
        client_address="192.0.2.1",
        user_agent="openai-python/3",
    )
    return replace(whole, **changes)


def attributes(span: Span) -> dict[str, object]:
    """The attributes of an OTLP span as plain values."""
    return {pair.key: _plain(pair.value) for pair in span.attributes}


def _plain(value: AnyValue) -> object:
    field = value.WhichOneof("value")
    if field == "array_value":
        return [_plain(item) for item in value.array_value.values]
    return getattr(value, field or "string_value")
