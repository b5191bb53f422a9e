"""How encoded spans leave: through the OpenTelemetry SDK's OTLP exporters (1.45).

With them come transport, TLS, compression, retries, size limit, OTEL_EXPORTER_OTLP_* settings
and own metrics; without their span objects.  That needs a few private names, all of them in
otlp_http.py and otlp_grpc.py and each with a test; if one is missing after an upgrade, spans are
rebuilt as the SDK's ReadableSpan and handed to the public `export`, slower by far but whole.

Each exporter is imported when it is needed: gRPC alone takes 11 MiB.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from .readable import readable

if TYPE_CHECKING:
    from .otlp_grpc import GrpcSpans
    from .otlp_http import HttpSpans

OtlpProtocol = Literal["http/protobuf", "grpc"]


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
    except RuntimeError as error:  # a credential provider that is not installed
        raise ValueError(f"OTEL_EXPORTER_OTLP_*: {error}") from error
    return exporter if exporter.ready() else PublicPath(exporter)


def _http(target: Target) -> "HttpSpans":
    from .otlp_http import open_http  # noqa: PLC0415 - only if it is used

    return open_http(target)


def _grpc(target: Target) -> "GrpcSpans":
    from .otlp_grpc import open_grpc  # noqa: PLC0415 - only if it is used

    return open_grpc(target)
