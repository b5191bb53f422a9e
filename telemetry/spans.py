"""A finished request as OTLP spans, in OTLP's own wire form.

Not the SDK's span objects: making and encoding those costs many times as much (see
docs/decisions/0005-spans-from-a-finished-exchange.md).  What is the same for many requests is
encoded once, by opentelemetry-proto's messages, and joined to the rest as bytes: two encoded
messages in a row are their merge (protobuf.dev, "Encoding": the last scalar wins, repeated fields
append).  Knows no exporter and sends nothing.

Invariant: no prompt or answer text; texts of callers are cut to 256 characters.
"""

from binascii import unhexlify
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from . import wire
from .context import Ids, parse_traceparent
from .measurement import Attempt, Measurement, Stage
from .names import OTHER, SCHEMA_URL, SCOPE, Attribute
from .timings import Timings
from .wire import (
    TEXT_MAX,
    CountAttribute,
    DurationAttribute,
    FourDurations,
    TextAttribute,
    Value,
    attribute,
    framed,
    varint,
)

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
"""Of each kind; texts of callers and engines are cut before they become part of a key."""

_REQUEST_ID: Final = TextAttribute(Attribute.REQUEST_ID)
_REQUEST_SIZE: Final = CountAttribute(Attribute.REQUEST_SIZE)
_RESPONSE_SIZE: Final = CountAttribute(Attribute.RESPONSE_SIZE)
_HELD_MAX: Final = CountAttribute(Attribute.HELD_MAX)
_HELD_TOTAL: Final = CountAttribute(Attribute.HELD_TOTAL)
_FINDINGS: Final = CountAttribute(Attribute.FINDINGS)
_INPUT_TOKENS: Final = CountAttribute(Attribute.INPUT_TOKENS)
_OUTPUT_TOKENS: Final = CountAttribute(Attribute.OUTPUT_TOKENS)
_CACHED_TOKENS: Final = CountAttribute(Attribute.CACHED_TOKENS)
_REASONING_TOKENS: Final = CountAttribute(Attribute.REASONING_TOKENS)
_GAP_COUNT: Final = CountAttribute(Attribute.GAP_COUNT)
_QUEUE: Final = DurationAttribute(Attribute.QUEUE)
_FIRST_TOKEN: Final = DurationAttribute(Attribute.FIRST_TOKEN)
_PER_TOKEN: Final = DurationAttribute(Attribute.PER_TOKEN)
_PASSAGE: Final = FourDurations(
    Attribute.FIRST_BYTE, Attribute.FIRST_TOKEN, Attribute.BEFORE_ENGINE, Attribute.OVERHEAD
)
_RHYTHM: Final = FourDurations(
    Attribute.FIRST_CHUNK, Attribute.GAP_P50, Attribute.GAP_P95, Attribute.GAP_MAX
)

# A _Server and a _Client as plain tuples, which are faster to make.
_ServerKey = tuple[str, str, str, int, str, str, str, str, str, str]
_ClientKey = tuple[str, str, str, str, str, bool, str, str, str, int, int, str]


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
        self._span_id = (ids or Ids()).span_bytes
        self._server_constant = lru_cache(_CONSTANTS_KEPT)(_server_constant)
        self._client_constant = lru_cache(_CONSTANTS_KEPT)(_client_constant)
        self._stage_head = lru_cache(_CONSTANTS_KEPT)(_stage_head)
        self._caller = lru_cache(_CONSTANTS_KEPT)(_caller)
        self._usage = lru_cache(_CONSTANTS_KEPT)(_usage)
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
        trace, span_id = wire.trace(unhexlify(m.trace_id)), unhexlify(m.span_id)
        state = wire.trace_state(m.trace_state)
        # Children have trace, parent and trace state in common: one piece of bytes.
        family = b"".join((trace, wire.parent(span_id), state))
        spans = [self._server(m, t, span_id, trace + state)]
        for resend, attempt in enumerate(m.attempts):
            more = attribute(Attribute.RESEND_COUNT, resend) if resend else b""
            if attempt is t.answer:
                more += self._answer(m, t, attempt)
            spans.append(self._attempt(m, attempt, family, more))
        for stage in m.stages:
            spans.append(self._stage(stage, family))  # noqa: PERF401 - half as fast for two
        return b"".join(spans)

    def request(self, parts: Sequence[bytes]) -> bytes:
        """Wrap encoded requests as one encoded ExportTraceServiceRequest."""
        # One join: a batch is a quarter of a megabyte, and each further copy costs as much again.
        scope_size = len(self._scope) + sum(map(len, parts))
        head = b"".join((self._resource, _SCOPE_SPANS, wire.varint(scope_size), self._scope))
        size = len(head) - len(self._scope) + scope_size
        return b"".join((_RESOURCE_SPANS, wire.varint(size), head, *parts))

    def _server(self, m: Measurement, t: Timings, span_id: bytes, trace: bytes) -> bytes:
        start = m.start_ns
        body = b"".join(
            (
                self._server_constant(
                    (
                        m.method,
                        m.path,
                        m.scheme,
                        m.status,
                        m.route,
                        m.dialect,
                        m.tenant,
                        m.principal,
                        m.outcome,
                        m.action,
                    )
                ),
                wire.own(span_id, start, m.end_ns),
                trace,
                self._caller((m.client_address[:TEXT_MAX], m.user_agent[:TEXT_MAX])),
                _REQUEST_ID.encode(m.request_id),
                _REQUEST_SIZE.encode(m.bytes_in),
                _RESPONSE_SIZE.encode(m.bytes_out),
                _PASSAGE.encode(
                    m.first_byte_ns - start, t.caller_ttft_ns, t.before_engine_ns, t.overhead_ns
                ),
                _QUEUE.encode(t.queue_ns or -1),
                _parent(m.parent_span_id) if m.parent_span_id else b"",
                _link(m.link) if m.link else b"",
                _held(m) if m.held_bytes_total else b"",
                _found(m.findings) if m.findings else b"",
            )
        )
        return framed(_SCOPE_SPAN, body)

    def _attempt(self, m: Measurement, attempt: Attempt, family: bytes, more: bytes) -> bytes:
        constant = self._client_constant(
            (
                m.method,
                m.operation,
                "" if m.model == OTHER else m.model,
                m.model_requested[:TEXT_MAX],
                m.model_answered[:TEXT_MAX],
                m.stream,
                attempt.engine,
                attempt.kind,
                attempt.address,
                attempt.port,
                attempt.status,
                attempt.error,
            )
        )
        own = wire.own(unhexlify(attempt.span_id), attempt.start_ns, attempt.end_ns)
        return framed(_SCOPE_SPAN, b"".join((constant, own, family, more)))

    def _answer(self, m: Measurement, t: Timings, attempt: Attempt) -> bytes:
        """Encode what only the answering try knows: tokens are never counted twice."""
        source = ""
        if m.input_tokens >= 0 or m.output_tokens >= 0:
            source = "estimated" if m.tokens_estimated else "exact"
        parts = [
            self._usage((source, *[reason[:TEXT_MAX] for reason in m.finish_reasons])),
            _INPUT_TOKENS.encode(m.input_tokens),
            _OUTPUT_TOKENS.encode(m.output_tokens),
            _CACHED_TOKENS.encode(m.cached_tokens),
            _REASONING_TOKENS.encode(m.reasoning_tokens),
            _FIRST_TOKEN.encode(t.engine_ttft_ns),
            _PER_TOKEN.encode(t.tpot_ns),
        ]
        if m.stream or m.gaps_ns:
            first_chunk = attempt.first_byte_ns - attempt.start_ns if m.stream else -1
            parts += (
                _GAP_COUNT.encode(len(m.gaps_ns) or -1),
                _RHYTHM.encode(first_chunk, t.gap_p50_ns, t.gap_p95_ns, t.gap_max_ns),
            )
        return b"".join(parts)

    def _stage(self, stage: Stage, family: bytes) -> bytes:
        own = wire.own(self._span_id(), stage.start_ns, stage.end_ns)
        if not stage.attributes:
            return b"".join((self._stage_head((stage.name, len(family))), own, family))
        more = [attribute(key, value) for key, value in stage.attributes.items()]
        constant = _stage_constant(stage.name)
        return framed(_SCOPE_SPAN, b"".join((constant, own, family, *more)))


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


def _caller(key: tuple[str, str]) -> bytes:
    address, agent = key
    known = {Attribute.CLIENT_ADDRESS: address, Attribute.USER_AGENT: agent}
    return b"".join([attribute(key, value) for key, value in known.items() if value])


def _held(m: Measurement) -> bytes:
    return _HELD_MAX.encode(m.held_bytes_max) + _HELD_TOTAL.encode(m.held_bytes_total)


def _found(findings: Mapping[str, int]) -> bytes:
    each = [attribute(Attribute.FINDINGS_OF + kind, n) for kind, n in findings.items()]
    return b"".join((_FINDINGS.encode(sum(findings.values())), *each))


def _usage(key: tuple[str, ...]) -> bytes:
    source, *reasons = key
    known: dict[str, Value] = {
        Attribute.USAGE_SOURCE: source,
        Attribute.FINISH_REASONS: reasons,
    }
    return b"".join([attribute(key, value) for key, value in known.items() if value])


def _parent(span_id: str) -> bytes:
    return wire.parent(unhexlify(span_id)) + _REMOTE_PARENT


def _link(traceparent: str) -> bytes:
    caller = parse_traceparent(traceparent)
    if caller is None:
        return b""
    trace, span = bytes.fromhex(caller.trace_id), bytes.fromhex(caller.span_id)
    link = Span.Link(trace_id=trace, span_id=span, flags=_REMOTE)
    return bytes(Span(links=[link]).SerializeToString())


def _server_constant(key: _ServerKey) -> bytes:
    s = _Server(*key)
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


def _client_constant(key: _ClientKey) -> bytes:
    c = _Client(*key)
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


def _stage_head(key: tuple[str, int]) -> bytes:
    """Encode a stage's span up to its own part and its family's, of so many bytes."""
    name, family = key
    constant = _stage_constant(name)
    return _SCOPE_SPAN + varint(len(constant) + wire.OWN_SIZE + family) + constant


def _constant(span: Span, values: Mapping[str, Value]) -> bytes:
    """Encode a span with all that is known: "", 0 and False stand for what is not."""
    if values.get(Attribute.ERROR_TYPE):
        span.status.code = Status.STATUS_CODE_ERROR
    known = [attribute(key, value) for key, value in values.items() if value]
    return b"".join((span.SerializeToString(), *known))


_REMOTE_PARENT: Final[bytes] = Span(flags=_REMOTE).SerializeToString()
