"""OTLP spans as the SDK's ReadableSpan: the way out through `SpanExporter.export`.

Used only when a private name of the SDK's exporters is gone (see otlp.py) and for exporters of
other kinds.  Loses nothing that spans.py writes.
"""

from collections.abc import Iterable
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

_Value = str | bool | int | float | list[str]
_REMOTE: Final = trace_pb2.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
_KINDS: Final = {
    trace_pb2.Span.SPAN_KIND_SERVER: SpanKind.SERVER,
    trace_pb2.Span.SPAN_KIND_CLIENT: SpanKind.CLIENT,
}


def readable(request: ExportTraceServiceRequest) -> list[ReadableSpan]:
    """Rebuild every span of an export request."""
    return [
        _span(span, Resource(_attributes(group.resource.attributes)), _scope(scoped))
        for group in request.resource_spans
        for scoped in group.scope_spans
        for span in scoped.spans
    ]


def _scope(scoped: trace_pb2.ScopeSpans) -> InstrumentationScope:
    return InstrumentationScope(scoped.scope.name, scoped.scope.version, scoped.schema_url)


def _span(span: trace_pb2.Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    state = TraceState.from_header([span.trace_state]) if span.trace_state else None
    parent = None
    if span.parent_span_id:
        remote = bool(span.flags & _REMOTE)
        parent = _context(span.trace_id, span.parent_span_id, state, is_remote=remote)
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id, state, is_remote=False),
        parent=parent,
        resource=resource,
        attributes=_attributes(span.attributes),
        links=[
            Link(_context(link.trace_id, link.span_id, None, is_remote=True))
            for link in span.links
        ],
        kind=_KINDS.get(span.kind, SpanKind.INTERNAL),
        status=Status(StatusCode(span.status.code)),
        start_time=span.start_time_unix_nano,
        end_time=span.end_time_unix_nano,
        instrumentation_scope=scope,
    )


def _context(
    trace_id: bytes, span_id: bytes, state: TraceState | None, *, is_remote: bool
) -> SpanContext:
    return SpanContext(
        int.from_bytes(trace_id),
        int.from_bytes(span_id),
        is_remote,
        TraceFlags(TraceFlags.SAMPLED),
        state,
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, _Value]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> _Value:
    if value.WhichOneof("value") == "array_value":
        return [item.string_value for item in value.array_value.values]
    found: _Value = getattr(value, value.WhichOneof("value") or "string_value")
    return found
