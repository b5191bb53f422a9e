"""The insides of the SDK's OTLP/gRPC exporter that we use; see otlp.py."""

from dataclasses import dataclass
from typing import Any

from opentelemetry.exporter.otlp.proto.grpc.exporter import InvalidCompressionValueException
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SpanExportResult

from .otlp import Target


@dataclass(frozen=True, slots=True)
class _Batch:
    request: ExportTraceServiceRequest
    requests: int


class GrpcSpans(OTLPSpanExporter):
    """OTLP over gRPC, skipping `encode_spans`."""

    def ready(self) -> bool:
        """Whether the SDK still calls the two hooks below."""
        return all(
            callable(getattr(OTLPSpanExporter, name, None))
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


def open_grpc(target: Target) -> GrpcSpans:
    """Open the SDK's exporter; raises ValueError or RuntimeError for settings it refuses."""
    try:
        return GrpcSpans(
            endpoint=target.endpoint,
            insecure=target.insecure,
            headers=tuple((k.lower(), v) for k, v in target.headers.items()) or None,
            timeout=target.timeout,
        )
    except (InvalidCompressionValueException, KeyError) as error:
        raise ValueError(str(error)) from error
