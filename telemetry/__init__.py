"""Telemetry observes a finished request; it never stands in the relay.

Measurement: one finished request as plain numbers.  Telemetry: told of each Measurement by
`settled`, makes metrics and spans of it in its own threads.  TraceContext: a request's place in a
trace.  Metrics: the instruments behind /metrics.
"""

from .context import ContextReader, Ids, TraceContext
from .logs import configure_logging
from .measurement import Attempt, Measurement, Stage
from .metrics import CONTENT_TYPE, Metrics
from .options import TelemetryOptions
from .sampler import Sampler
from .setup import Telemetry

__all__ = [
    "CONTENT_TYPE",
    "Attempt",
    "ContextReader",
    "Ids",
    "Measurement",
    "Metrics",
    "Sampler",
    "Stage",
    "Telemetry",
    "TelemetryOptions",
    "TraceContext",
    "configure_logging",
]
