"""What an operator may set, and what OpenTelemetry's environment variables add to it.

An option that is set wins over the environment, as in the SDK.  Source: OpenTelemetry
specification, "Environment variable specification" and "OTLP exporter configuration".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .otlp import OtlpProtocol, Target
from .sampler import Sampler, named
from .sender import Limits

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


@dataclass(slots=True)
class TelemetryOptions:
    """Settings of telemetry; the defaults leave everything to the environment."""

    endpoint: str | None = None
    """OTLP collector, e.g. "http://collector:4318"; None: from the environment, or no export."""
    protocol: OtlpProtocol | None = None
    """None: OTEL_EXPORTER_OTLP_PROTOCOL, else "http/protobuf"."""
    headers: Mapping[str, str] = field(default_factory=dict)
    service_name: str = ""
    """Empty: OTEL_SERVICE_NAME, else "tidegate"."""
    sample_ratio: float | None = None
    """Share of traces exported, 0..1, where no caller decided; None: OTEL_TRACES_SAMPLER."""
    trust_callers: bool = True
    """Whether a caller's traceparent is followed; if not, it is kept as a span link."""
    max_queue: int = 2048
    max_batch: int = 512
    export_interval: float = 1.0
    """Seconds."""
    insecure: bool | None = None
    """gRPC without TLS; None: by the endpoint's scheme or OTEL_EXPORTER_OTLP_INSECURE."""
    timeout: float | None = None
    """Seconds for one batch with its retries; None: OTEL_EXPORTER_OTLP_TIMEOUT, else 10."""

    def limits(self) -> Limits:
        """Return the bounds of the queues; raises ValueError if one is not positive."""
        if min(self.max_queue, self.max_batch) < 1 or self.export_interval <= 0:
            raise ValueError("telemetry: max_queue, max_batch and export_interval must be > 0")
        return Limits(self.max_queue, self.max_batch, self.export_interval)

    def target(self, environ: Mapping[str, str]) -> Target | None:
        """Return where spans go, None if nowhere; raises ValueError for an unknown protocol."""
        off = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
        if off or environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
            return None
        if self.endpoint is None and not _first(environ, _ENDPOINTS):
            return None
        protocol = self.protocol or _first(environ, _PROTOCOLS) or "http/protobuf"
        match protocol:
            case "http/protobuf" | "grpc":
                return Target(
                    protocol, self.endpoint, dict(self.headers), self.insecure, self.timeout
                )
            case _:
                raise ValueError(
                    f"OTLP protocol {protocol!r} is not supported: use http/protobuf or grpc"
                )

    def sampler(self, environ: Mapping[str, str]) -> Sampler:
        """Return who decides on export; raises ValueError for a ratio outside 0..1."""
        if self.sample_ratio is None:
            name = environ.get("OTEL_TRACES_SAMPLER") or "parentbased_always_on"
            return named(name, environ.get("OTEL_TRACES_SAMPLER_ARG", ""))
        return named("parentbased_traceidratio", str(self.sample_ratio))


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")
