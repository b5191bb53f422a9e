"""A finished request as OTLP spans, in OTLP's own wire form.

Not the SDK's span objects: making and encoding those costs many times as much (see
docs/decisions/0005-spans-from-a-finished-exchange.md).  What is the same for many requests is
encoded once, by opentelemetry-proto's messages, and joined to the rest as bytes: two encoded
messages in a row are their merge (protobuf.dev, "Encoding": the last scalar wins, repeated fields
append).  Knows no exporter and sends nothing.

Invariant: no prompt or answer text; texts of callers are cut to 256 characters.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from . import wire
from .context import Ids, parse_traceparent
from .measurement import Attempt, Measurement, Stage
from .names import OTHER, SCHEMA_URL, SCOPE, Attribute
from .timings import Timings, answering
from .wire import Value, attribute, count, framed, seconds

FAILURES: Final = frozenset({"no_engine", "engine_failed", "audit_failed", "internal"})
"""Outcomes that are the server's fault even if a 200 had gone out before."""
CLIENT_LEFT: Final = "client_left"

# Bit 8 says that bit 9 is meant: the parent lives in another process (trace.proto, SpanFlags).
_LOCAL: Final = 0x101
_REMOTE: Final = 0x301
_SCOPE_SPAN: Final = b"\x12"  # ScopeSpans.spans, field 2
_SCOPE_SPANS: Final = b"\x12"  # ResourceSpans.scope_spans, 2
_RESOURCE: Final = b"\x0a"  # ResourceSpans.resource, 1
_RESOURCE_ATTRIBUTE: Final = b"\x0a"  # Resource.attributes, 1
_RESOURCE_SPANS: Final = b"\x0a"  # ExportTraceServiceRequest.resource_spans, 1
_CONSTANTS_KEPT: Final = 1024


class _Server(NamedTuple):
    """What many SERVER spans share."""

    method: str
    path: str
    scheme: str
    status: int
    route: str
    dialect: str
    tenant: str
    principal: str
    outcome: str
    action: str


class _Client(NamedTuple):
    """What many CLIENT spans share."""

    method: str
    operation: str
    model: str
    requested: str
    answered: str
    stream: bool
    engine: str
    kind: str
    address: str
    port: int
    status: int
    error: str


class SpanEncoder:
    """Encodes requests and wraps them as OTLP export requests; for one thread."""

    def __init__(
        self, resource: Mapping[str, Value], version: str, ids: Ids | None = None
    ) -> None:
        self._span_id = (ids or Ids()).span_id
        self._server_constant = lru_cache(_CONSTANTS_KEPT)(_server_constant)
        self._client_constant = lru_cache(_CONSTANTS_KEPT)(_client_constant)
        self._stage_constant = lru_cache(_CONSTANTS_KEPT)(_stage_constant)
        attributes = [
            framed(_RESOURCE_ATTRIBUTE, wire.key_value(*item)) for item in resource.items()
        ]
        self._resource = framed(_RESOURCE, b"".join(attributes))
        scope = InstrumentationScope(name=SCOPE, version=version)
        self._scope = ScopeSpans(scope=scope, schema_url=SCHEMA_URL).SerializeToString()

    def encode(self, m: Measurement, t: Timings) -> bytes:
        """Encode all spans of one request, as a part that `request` joins.

        Raises ValueError for an id that is not hexadecimal, struct.error or OverflowError for a
        number that does not fit its field.
        """
        trace = bytes.fromhex(m.trace_id)
        # Children inherit parent and trace state: one piece of bytes for all of them.
        child = wire.parent(bytes.fromhex(m.span_id)) + wire.trace_state(m.trace_state)
        parts = [self._server(m, t, trace)]
        answer = answering(m)
        for resend, attempt in enumerate(m.attempts):
            more = [child]
            if resend:
                more.append(count(Attribute.RESEND_COUNT, resend))
            if attempt is answer:
                more += _answer(m, t, attempt)
            parts.append(self._attempt(m, attempt, trace, b"".join(more)))
        parts += [self._stage(stage, trace, child) for stage in m.stages]
        return b"".join(parts)

    def request(self, parts: Sequence[bytes]) -> bytes:
        """Wrap encoded requests as one encoded ExportTraceServiceRequest."""
        # One join: a batch is a quarter of a megabyte, and each further copy costs as much again.
        scope_size = len(self._scope) + sum(map(len, parts))
        head = b"".join((self._resource, _SCOPE_SPANS, wire.varint(scope_size), self._scope))
        size = len(head) - len(self._scope) + scope_size
        return b"".join((_RESOURCE_SPANS, wire.varint(size), head, *parts))

    def _server(self, m: Measurement, t: Timings, trace: bytes) -> bytes:
        constant = self._server_constant(
            _Server(
                *(m.method, m.path, m.scheme, m.status, m.route),
                *(m.dialect, m.tenant, m.principal, m.outcome, m.action),
            )
        )
        head = wire.span_head(trace, bytes.fromhex(m.span_id), m.start_ns, m.end_ns)
        parts = [constant, head, wire.trace_state(m.trace_state)]
        if m.parent_span_id:
            parts += (wire.parent(bytes.fromhex(m.parent_span_id)), _REMOTE_PARENT)
        if m.link:
            parts.append(_link(m.link))
        parts += _request(m, t)
        return framed(_SCOPE_SPAN, b"".join(parts))

    def _attempt(self, m: Measurement, attempt: Attempt, trace: bytes, more: bytes) -> bytes:
        model = "" if m.model == OTHER else m.model
        constant = self._client_constant(
            _Client(
                *(m.method, m.operation, model, m.model_requested, m.model_answered, m.stream),
                *(attempt.engine, attempt.kind, attempt.address, attempt.port),
                *(attempt.status, attempt.error),
            )
        )
        span_id = bytes.fromhex(attempt.span_id)
        head = wire.span_head(trace, span_id, attempt.start_ns, attempt.end_ns)
        return framed(_SCOPE_SPAN, constant + head + more)

    def _stage(self, stage: Stage, trace: bytes, child: bytes) -> bytes:
        span_id = bytes.fromhex(self._span_id())
        head = wire.span_head(trace, span_id, stage.start_ns, stage.end_ns)
        parts = [self._stage_constant(stage.name), head, child]
        if stage.attributes:
            parts += [attribute(key, value) for key, value in stage.attributes.items()]
        return framed(_SCOPE_SPAN, b"".join(parts))


def server_error(status: int, outcome: str) -> str:
    """Return the SERVER span's error.type, "" where its status stays unset (1xx-4xx)."""
    if outcome in FAILURES:
        return outcome
    return str(status) if status >= 500 else ""  # noqa: PLR2004 - HTTP's server error class


def attempt_error(status: int, error: str) -> str:
    """Return the CLIENT span's error.type; a caller that left is not by itself an error."""
    if error == CLIENT_LEFT:
        return ""
    return error or (str(status) if status >= 400 else "")  # noqa: PLR2004 - HTTP's error classes


def _request(m: Measurement, t: Timings) -> Iterator[bytes]:
    yield attribute(Attribute.REQUEST_ID, m.request_id)
    yield count(Attribute.REQUEST_SIZE, m.bytes_in)
    yield count(Attribute.RESPONSE_SIZE, m.bytes_out)
    if m.client_address:
        yield attribute(Attribute.CLIENT_ADDRESS, m.client_address)
    if m.user_agent:
        yield attribute(Attribute.USER_AGENT, m.user_agent)
    yield from _known(
        (Attribute.FIRST_BYTE, m.first_byte_ns - m.start_ns),
        (Attribute.FIRST_TOKEN, t.caller_ttft_ns),
        (Attribute.QUEUE, t.queue_ns or -1),
        (Attribute.BEFORE_ENGINE, t.before_engine_ns),
        (Attribute.OVERHEAD, t.overhead_ns),
    )
    if m.held_bytes_total:
        yield count(Attribute.HELD_MAX, m.held_bytes_max)
        yield count(Attribute.HELD_TOTAL, m.held_bytes_total)
    if m.findings:
        yield count(Attribute.FINDINGS, sum(m.findings.values()))
        for kind, number in m.findings.items():
            yield count(Attribute.FINDINGS_OF + kind, number)


def _answer(m: Measurement, t: Timings, attempt: Attempt) -> Iterator[bytes]:
    """Encode what only the answering try knows: tokens are never counted twice."""
    for key, number in (
        (Attribute.INPUT_TOKENS, m.input_tokens),
        (Attribute.OUTPUT_TOKENS, m.output_tokens),
        (Attribute.CACHED_TOKENS, m.cached_tokens),
        (Attribute.REASONING_TOKENS, m.reasoning_tokens),
        (Attribute.GAP_COUNT, len(m.gaps_ns) or -1),
    ):
        if number >= 0:
            yield count(key, number)
    if m.input_tokens >= 0 or m.output_tokens >= 0:
        yield _ESTIMATED if m.tokens_estimated else _EXACT
    if m.finish_reasons:
        yield attribute(Attribute.FINISH_REASONS, m.finish_reasons)
    yield from _known(
        (Attribute.FIRST_CHUNK, attempt.first_byte_ns - attempt.start_ns if m.stream else -1),
        (Attribute.FIRST_TOKEN, t.engine_ttft_ns),
        (Attribute.PER_TOKEN, t.tpot_ns),
        (Attribute.GAP_P50, t.gap_p50_ns),
        (Attribute.GAP_P95, t.gap_p95_ns),
        (Attribute.GAP_MAX, t.gap_max_ns),
    )


def _known(*durations: tuple[str, float]) -> list[bytes]:
    return [seconds(key, duration_ns) for key, duration_ns in durations if duration_ns >= 0]


def _link(traceparent: str) -> bytes:
    caller = parse_traceparent(traceparent)
    if caller is None:
        return b""
    trace, span = bytes.fromhex(caller.trace_id), bytes.fromhex(caller.span_id)
    link = Span.Link(trace_id=trace, span_id=span, flags=_REMOTE)
    return bytes(Span(links=[link]).SerializeToString())


def _server_constant(s: _Server) -> bytes:
    error = server_error(s.status, s.outcome)
    values: dict[str, Value] = {
        Attribute.METHOD: s.method,
        Attribute.PATH: s.path,
        Attribute.ROUTE: s.path,
        Attribute.SCHEME: s.scheme,
        Attribute.STATUS: s.status,
        Attribute.ERROR_TYPE: error,
        Attribute.TIDEGATE_ROUTE: s.route,
        Attribute.DIALECT: s.dialect,
        Attribute.TENANT: s.tenant,
        Attribute.PRINCIPAL: s.principal,
        Attribute.OUTCOME: s.outcome,
        Attribute.ACTION: s.action,
    }
    span = Span(name=wire.clean(f"{s.method} {s.path}"), kind=Span.SPAN_KIND_SERVER, flags=_LOCAL)
    return _constant(span, values)


def _client_constant(c: _Client) -> bytes:
    values: dict[str, Value] = {
        Attribute.METHOD: c.method,
        Attribute.SERVER_ADDRESS: c.address,
        Attribute.SERVER_PORT: c.port,
        Attribute.STATUS: c.status,
        Attribute.ERROR_TYPE: attempt_error(c.status, c.error),
        Attribute.ENGINE: c.engine,
    }
    if c.operation:
        values |= {
            Attribute.OPERATION: c.operation,
            Attribute.PROVIDER: c.kind,
            Attribute.REQUEST_MODEL: c.requested,
            Attribute.RESPONSE_MODEL: c.answered,
            Attribute.REQUEST_STREAM: c.stream,
        }
    name = f"{c.operation} {c.model}".rstrip() if c.operation else c.method
    return _constant(Span(name=wire.clean(name), kind=Span.SPAN_KIND_CLIENT, flags=_LOCAL), values)


def _stage_constant(name: str) -> bytes:
    return _constant(Span(name=wire.clean(name), kind=Span.SPAN_KIND_INTERNAL, flags=_LOCAL), {})


def _constant(span: Span, values: Mapping[str, Value]) -> bytes:
    """Encode a span with all that is known: "", 0 and False stand for what is not."""
    if values.get(Attribute.ERROR_TYPE):
        span.status.code = Status.STATUS_CODE_ERROR
    known = [attribute(key, value) for key, value in values.items() if value]
    return b"".join((span.SerializeToString(), *known))


_EXACT: Final = attribute(Attribute.USAGE_SOURCE, "exact")
_ESTIMATED: Final = attribute(Attribute.USAGE_SOURCE, "estimated")
_REMOTE_PARENT: Final[bytes] = Span(flags=_REMOTE).SerializeToString()
