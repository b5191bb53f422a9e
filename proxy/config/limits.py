"""Bounds on what is accepted from clients and on what is waited for."""

from pydantic import BaseModel, ConfigDict, Field

from . import values as v


class Limits(BaseModel):
    """Sizes in bytes, durations in seconds once loaded."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    body: v.Bytes = Field(default=32 * 1024**2, description="Largest request body.")
    header_count: int = Field(default=100, ge=1, le=10_000, description="Most request headers.")
    header_bytes: v.Bytes = Field(default=64 * 1024, description="Most bytes of request headers.")
    messages: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Most messages, or inputs, in a request."
    )
    json_depth: int = Field(
        default=100, ge=4, le=500, description="Deepest nesting of a request body."
    )
    body_timeout: v.PositiveSeconds = Field(
        default=30.0, description="Time in which the request body must have come."
    )
    inspect_timeout: v.PositiveSeconds = Field(
        default=5.0,
        description="Time that detectors may take over one request; what is not read by then is"
        " left to `on_error` of the policy.",
    )
    header_timeout: v.PositiveSeconds = Field(
        default=15.0, description="Time in which the request headers must have come."
    )
    keepalive: v.Seconds = Field(
        default=75.0, description="How long an idle client connection is kept."
    )
    connect_timeout: v.PositiveSeconds = Field(
        default=5.0, description="Time to connect to an engine."
    )
    first_byte_timeout: v.PositiveSeconds = Field(
        default=600.0, description="Time in which an engine must begin its answer."
    )
    stall_timeout: v.PositiveSeconds = Field(
        default=120.0, description="Silence after which a running answer counts as stalled."
    )
    write_timeout: v.PositiveSeconds = Field(
        default=60.0, description="How long a client may take no data before it is cut off."
    )
    drain: v.Seconds = Field(
        default=30.0, description="How long running answers may go on after SIGTERM."
    )
    max_connections: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Most client connections at once."
    )
