"""The insides of the SDK's OTLP/HTTP exporter that we use; see otlp.py."""

from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from .otlp import Target

HTTP_PATH: Final = "/v1/traces"


class HttpSpans(OTLPSpanExporter):
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


def open_http(target: Target) -> HttpSpans:
    """Open the SDK's exporter; raises RuntimeError for a credential provider that is not there."""
    return HttpSpans(
        endpoint=http_endpoint(target.endpoint) if target.endpoint else None,
        headers=dict(target.headers) or None,
        timeout=target.timeout,
    )


def http_endpoint(endpoint: str) -> str:
    """Return the URL spans are posted to, for a base URL or a complete one."""
    base = endpoint.rstrip("/")
    return base if base.endswith(HTTP_PATH) else base + HTTP_PATH
