"""One settled request as plain numbers: all that spans and metrics are made from.

Times are nanoseconds since the Unix epoch (OpenTelemetry's unit), taken as one wall-clock
reading at arrival plus monotonic differences, so that they never run backwards.
"""

import msgspec


class Attempt(msgspec.Struct):
    """One try at one engine."""

    span_id: str
    """16 hex digits, sent to the engine as the parent id of its own spans."""
    engine: str
    kind: str
    """The engine's software: "vllm", "llamacpp", "openai", …"""
    address: str
    port: int
    start_ns: int
    end_ns: int
    status: int = 0
    """The engine's HTTP status; 0 if there was none."""
    error: str = ""
    """A short stable code ("connect", "reset", "stall", "engine_error"), "" if it went well.

    "client_left" says that the try was cancelled for the caller's leaving: no error of the engine.
    """
    sent_ns: int = 0
    """The request had been handed to the engine completely."""
    first_byte_ns: int = 0
    first_token_ns: int = 0
    """The first delta that carries text, not the first byte and not a role-only delta."""
    last_token_ns: int = 0


class Stage(msgspec.Struct):
    """A named stretch of time inside the request ("inspect.input", "wait.audit", …)."""

    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, str | int | float | bool] = {}


class Measurement(msgspec.Struct):
    """What the proxy knows of one finished request; absent numbers are -1, absent texts ""."""

    request_id: str
    trace_id: str
    """32 hex digits."""
    span_id: str
    """16 hex digits, of the SERVER span."""
    parent_span_id: str
    """16 hex digits of the caller's span, or ""."""
    trace_state: str
    sampled: bool
    method: str
    path: str
    """The route template ("/v1/chat/completions"), never the raw path."""
    dialect: str
    operation: str
    """gen_ai.operation.name: "chat", "text_completion", "embeddings", or "" for the rest."""
    route: str
    tenant: str
    principal: str
    model_requested: str
    """As the caller wrote it: spans only.  Metrics use `model`."""
    model: str
    """A model name known from the configuration, or "_OTHER": bounded cardinality."""
    model_answered: str
    stream: bool
    status: int
    """The HTTP status given to the client; 499 when it left before there was one."""
    outcome: str
    """"ok", "refused", "blocked", "bad_request", "unauthorized", "forbidden", "no_engine",
    "engine_failed", "client_left", "audit_failed", "internal"."""
    action: str
    """The policy's strictest action on either direction."""
    start_ns: int
    end_ns: int
    first_byte_ns: int = 0
    """When the first byte of the answer's body was handed to the client's socket."""
    attempts: list[Attempt] = []
    stages: list[Stage] = []
    input_tokens: int = -1
    output_tokens: int = -1
    tokens_estimated: bool = False
    gaps_ns: list[int] = []
    """Time between consecutive text-bearing events, in order of arrival."""
    held_bytes_max: int = 0
    """The most text the stream screen held at any time, in UTF-8 bytes."""
    held_bytes_total: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    finish_reasons: list[str] = []
    findings: dict[str, int] = {}
    """Finding kind → count, both directions."""
    client_address: str = ""
    user_agent: str = ""
    scheme: str = "http"
    """What the caller spoke to this proxy: "http" or "https"."""
    link: str = ""
    """The traceparent of a caller whose context was not followed, kept as a span link."""
    cached_tokens: int = -1
    """Of `input_tokens`, those the engine took from its cache."""
    reasoning_tokens: int = -1
    """Of `output_tokens`, those spent on reasoning."""
