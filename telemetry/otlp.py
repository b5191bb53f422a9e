"""The only file that touches the insides of the OpenTelemetry SDK's OTLP exporters (1.45).

Encoded spans leave through the SDK's exporters (their transport, TLS, compression, retries, size
limit, OTEL_EXPORTER_OTLP_* settings and own metrics) without its span objects.  That needs a few
private names; if one is missing after an upgrade, spans are rebuilt as the SDK's ReadableSpan and
handed to the public `export`, slower by far but whole.  Each name used has a test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from opentelemetry.exporter.otlp.proto.grpc.exporter import InvalidCompressionValueException
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcSpanExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpSpanExporter,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from .readable import readable

OtlpProtocol = Literal["http/protobuf", "grpc"]

HTTP_PATH: Final = "/v1/traces"


@dataclass(frozen=True, slots=True)
class Target:
    """Where spans go; None leaves a setting to OTEL_EXPORTER_OTLP_* and its defaults."""

    protocol: OtlpProtocol
    endpoint: str | None = None
    """A base URL (HTTP: "/v1/traces" is appended unless the path ends so) or gRPC target."""
    headers: Mapping[str, str] = field(default_factory=dict)
    insecure: bool | None = None
    """gRPC without TLS; None takes it from the URL's scheme."""
    timeout: float | None = None
    """Seconds for one batch, retries included."""


class Exporter(Protocol):
    """Sends one encoded batch, waiting for the answer."""

    def send(self, payload: bytes, requests: int) -> bool:
        """Send an encoded ExportTraceServiceRequest; False if the collector did not take it."""

    def shutdown(self) -> None:
        """Close, ending waits for a retry."""


class HttpSpans(HttpSpanExporter):
    """OTLP over HTTP, skipping `encode_spans`."""

    def ready(self) -> bool:
        """Whether the SDK still has the insides that `send` uses."""
        return (
            callable(getattr(getattr(self, "_client", None), "export", None))
            and callable(getattr(getattr(self, "_metrics", None), "export_operation", None))
            and isinstance(getattr(self, "_max_request_size", None), int)
        )

    def send(self, payload: bytes, requests: int) -> bool:
        """Send as the SDK's `export` does, from the size limit on."""
        with self._metrics.export_operation(requests) as result:
            if 0 < self._max_request_size < len(payload):
                result.error = ValueError("the batch exceeds the exporter's max_request_size")
                return False
            answer = self._client.export(payload)
            result.error = answer.error
            return answer.success

    def shutdown(self) -> None:
        """Close, ending waits for a retry."""
        super().shutdown()  # type: ignore[no-untyped-call]  # the SDK's has no annotations


@dataclass(frozen=True, slots=True)
class _Batch:
    request: ExportTraceServiceRequest
    requests: int


class GrpcSpans(GrpcSpanExporter):
    """OTLP over gRPC, skipping `encode_spans`."""

    def ready(self) -> bool:
        """Whether the SDK still calls the two hooks below."""
        return all(
            callable(getattr(GrpcSpanExporter, name, None))
            for name in ("_translate_data", "_count_data", "_export")
        )

    def send(self, payload: bytes, requests: int) -> bool:
        """Send through the SDK's retry loop."""
        batch: Any = _Batch(ExportTraceServiceRequest.FromString(payload), requests)
        return self._export(batch) is SpanExportResult.SUCCESS

    def _translate_data(self, data: Any) -> ExportTraceServiceRequest:
        return data.request if isinstance(data, _Batch) else super()._translate_data(data)

    def _count_data(self, data: Any) -> int:
        return data.requests if isinstance(data, _Batch) else len(data)


class PublicPath:
    """The fallback: any SDK exporter by its public interface."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def send(self, payload: bytes, requests: int) -> bool:  # noqa: ARG002 - Exporter's signature
        """Rebuild the SDK's spans and export them."""
        request = ExportTraceServiceRequest.FromString(payload)
        return self._exporter.export(readable(request)) is SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the exporter."""
        self._exporter.shutdown()


def open_exporter(target: Target) -> Exporter:
    """Open the SDK's exporter for a target; connects only when the first batch is sent.

    Raises ValueError if an endpoint or a setting is malformed.
    """
    try:
        exporter = _grpc(target) if target.protocol == "grpc" else _http(target)
    except (InvalidCompressionValueException, KeyError, RuntimeError) as error:
        raise ValueError(f"OTEL_EXPORTER_OTLP_*: {error}") from error
    return exporter if exporter.ready() else PublicPath(exporter)


def http_endpoint(endpoint: str) -> str:
    """Return the URL spans are posted to, for a base URL or a complete one."""
    base = endpoint.rstrip("/")
    return base if base.endswith(HTTP_PATH) else base + HTTP_PATH


def _http(target: Target) -> HttpSpans:
    return HttpSpans(
        endpoint=http_endpoint(target.endpoint) if target.endpoint else None,
        headers=dict(target.headers) or None,
        timeout=target.timeout,
    )


def _grpc(target: Target) -> GrpcSpans:
    headers: Sequence[tuple[str, str]] = [(k.lower(), v) for k, v in target.headers.items()]
    return GrpcSpans(
        endpoint=target.endpoint,
        insecure=target.insecure,
        headers=tuple(headers) or None,
        timeout=target.timeout,
    )
