"""Every name that leaves Tidegate as telemetry, in one place.

Generation: the GenAI conventions are all "Development" and were renamed twice.  Spans use the
names of their main branch of 2026 ("G3", `gen_ai.usage.cache_read.input_tokens`), metrics those of
1.37-1.42 ("G2", `gen_ai.server.time_to_first_token`), as OpenTelemetry's own Python helper
does.  To follow a rename, change this file and docs/telemetry.md; a test compares them.

Sources: open-telemetry/semantic-conventions-genai (model/gen-ai), open-telemetry/
semantic-conventions (docs/http/http-spans.md, stable).  What has no convention is "tidegate.*".
"""

from dataclasses import dataclass
from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/gen-ai/1.42.0"
SCOPE: Final = "tidegate.telemetry"
OTHER: Final = "_OTHER"
"""Stands for every value outside a closed set, as the HTTP conventions do for methods."""


class Attribute:
    """Span attributes; the value's type and unit stand in docs/telemetry.md."""

    METHOD: Final = "http.request.method"
    ROUTE: Final = "http.route"
    PATH: Final = "url.path"
    SCHEME: Final = "url.scheme"
    STATUS: Final = "http.response.status_code"
    RESEND_COUNT: Final = "http.request.resend_count"
    REQUEST_SIZE: Final = "http.request.body.size"
    RESPONSE_SIZE: Final = "http.response.body.size"
    CLIENT_ADDRESS: Final = "client.address"
    USER_AGENT: Final = "user_agent.original"
    SERVER_ADDRESS: Final = "server.address"
    SERVER_PORT: Final = "server.port"
    ERROR_TYPE: Final = "error.type"

    OPERATION: Final = "gen_ai.operation.name"
    PROVIDER: Final = "gen_ai.provider.name"
    REQUEST_MODEL: Final = "gen_ai.request.model"
    REQUEST_STREAM: Final = "gen_ai.request.stream"
    RESPONSE_MODEL: Final = "gen_ai.response.model"
    FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
    FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
    INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
    CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
    REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"

    REQUEST_ID: Final = "tidegate.request_id"
    DIALECT: Final = "tidegate.dialect"
    TIDEGATE_ROUTE: Final = "tidegate.route"
    TENANT: Final = "tidegate.tenant"
    PRINCIPAL: Final = "tidegate.principal"
    OUTCOME: Final = "tidegate.outcome"
    ACTION: Final = "tidegate.policy.action"
    ENGINE: Final = "tidegate.engine"
    USAGE_SOURCE: Final = "tidegate.usage.source"
    FIRST_TOKEN: Final = "tidegate.time_to_first_token"  # noqa: S105 - a name, not a secret
    PER_TOKEN: Final = "tidegate.time_per_output_token"  # noqa: S105 - a name, not a secret
    FIRST_BYTE: Final = "tidegate.time_to_first_byte"
    GAP_P50: Final = "tidegate.inter_token.p50"
    GAP_P95: Final = "tidegate.inter_token.p95"
    GAP_MAX: Final = "tidegate.inter_token.max"
    GAP_COUNT: Final = "tidegate.inter_token.count"
    QUEUE: Final = "tidegate.queue_time"
    BEFORE_ENGINE: Final = "tidegate.time_before_engine"
    OVERHEAD: Final = "tidegate.overhead"
    HELD_MAX: Final = "tidegate.held.bytes_max"
    HELD_TOTAL: Final = "tidegate.held.bytes_total"
    FINDINGS: Final = "tidegate.findings.total"
    FINDINGS_OF: Final = "tidegate.findings."
    """A prefix: the finding's kind follows ("tidegate.findings.pii.email")."""


ATTRIBUTES: Final[tuple[str, ...]] = tuple(
    value for key, value in vars(Attribute).items() if key.isupper()
)

_MODEL: Final = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")


@dataclass(frozen=True, slots=True)
class Metric:
    """One Prometheus metric family as it is named in the exposition (without "_total")."""

    name: str
    kind: str
    """ "histogram", "counter" or "gauge"."""
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    """Upper bucket bounds in the unit of the name, without +Inf."""

    @property
    def exposed(self) -> str:
        """The name a dashboard writes."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


# The conventions advise these bounds ...
_GEN_AI_SECONDS: Final = tuple(0.01 * 2**k for k in range(14))
_HTTP_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_TTFT_SECONDS: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10),
)
_TPOT_SECONDS: Final = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5)
_TOKENS: Final = tuple(4.0**k for k in range(14))
# ... and stop at 10 s and 82 s, where long prompts and reasoning begin: ours are wider.
_WIDE_SECONDS: Final = (
    *(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10),
    *(15, 20, 30, 45, 60, 90, 120, 180, 300, 600),
)
_GAP_SECONDS: Final = (
    *(0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1),
    *(0.15, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 10, 30),
)
_OVERHEAD_SECONDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1, 2.5, 5, 10, 30),
)
_HELD_BYTES: Final = (0, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576)

REQUEST_DURATION: Final = Metric(
    "gen_ai_server_request_duration_seconds",
    "histogram",
    "From the arrival of an inference request to its end.",
    (*_MODEL, "error_type"),
    _GEN_AI_SECONDS,
)
SERVER_TTFT: Final = Metric(
    "gen_ai_server_time_to_first_token_seconds",
    "histogram",
    "From the request handed to the engine to the first text of its answer.",
    _MODEL,
    _TTFT_SECONDS,
)
SERVER_TPOT: Final = Metric(
    "gen_ai_server_time_per_output_token_seconds",
    "histogram",
    "Time between the first and the last text over the tokens after the first.",
    _MODEL,
    _TPOT_SECONDS,
)
TOKEN_USAGE: Final = Metric(
    "gen_ai_client_token_usage",
    "histogram",
    "Tokens of one request, by gen_ai_token_type input or output.",
    (*_MODEL, "gen_ai_token_type", "tidegate_usage_source"),
    _TOKENS,
)
HTTP_DURATION: Final = Metric(
    "http_server_request_duration_seconds",
    "histogram",
    "From the arrival of an HTTP request to its end.",
    ("http_request_method", "http_route", "http_response_status_code", "error_type"),
    _HTTP_SECONDS,
)
CALLER_TTFT: Final = Metric(
    "tidegate_time_to_first_token_seconds",
    "histogram",
    "From the arrival of a request to the first text of its answer, as the caller waits.",
    ("route", "model"),
    _WIDE_SECONDS,
)
DURATION: Final = Metric(
    "tidegate_request_duration_seconds",
    "histogram",
    "From the arrival of a request to its end, in buckets up to ten minutes.",
    ("route", "model"),
    _WIDE_SECONDS,
)
GAPS: Final = Metric(
    "tidegate_inter_token_gap_seconds",
    "histogram",
    "Time between two consecutive texts of an answer.",
    ("route", "model"),
    _GAP_SECONDS,
)
OVERHEAD: Final = Metric(
    "tidegate_overhead_seconds",
    "histogram",
    "The part of a request's time in which no engine was working on it.",
    ("route",),
    _OVERHEAD_SECONDS,
)
QUEUE: Final = Metric(
    "tidegate_queue_seconds",
    "histogram",
    "The part of a request's time that it waited for its turn or for the audit log.",
    ("route",),
    _OVERHEAD_SECONDS,
)
HELD: Final = Metric(
    "tidegate_held_bytes",
    "histogram",
    "The most text the stream screen held back at once, per streamed answer.",
    ("route",),
    _HELD_BYTES,
)
REQUESTS: Final = Metric("tidegate_requests", "counter", "Requests, by end.", ("route", "outcome"))
ACTIONS: Final = Metric(
    "tidegate_policy_actions",
    "counter",
    "Requests, by the strictest action taken.",
    ("route", "action"),
)
FINDINGS: Final = Metric(
    "tidegate_findings", "counter", "Findings in requests and answers.", ("kind",)
)
ATTEMPTS: Final = Metric(
    "tidegate_engine_attempts",
    "counter",
    "Tries at an engine, by error (empty if it went well).",
    ("engine", "error_type"),
)
DROPPED: Final = Metric(
    "tidegate_telemetry_dropped",
    "counter",
    "Requests whose spans (queue_full: and metrics) were lost, by reason.",
    ("reason",),
)
ENGINE_UP: Final = Metric(
    "tidegate_engine_up",
    "gauge",
    "1 while the engine's probe finds it well, else 0; an ejected one may be 1.",
    ("engine",),
)
ENGINE_IN_FLIGHT: Final = Metric(
    "tidegate_engine_in_flight", "gauge", "Requests now at the engine.", ("engine",)
)
ACTIVE: Final = Metric("http_server_active_requests", "gauge", "Requests now in the proxy.")
AUDIT_UP: Final = Metric(
    "tidegate_audit_log_up", "gauge", "1 while the audit log can be written, else 0."
)
BUILD: Final = Metric(
    "tidegate_build_info", "gauge", "Always 1; says what is running.", ("version", "python")
)

METRICS: Final[tuple[Metric, ...]] = (
    *(REQUEST_DURATION, SERVER_TTFT, SERVER_TPOT, TOKEN_USAGE, HTTP_DURATION),
    *(CALLER_TTFT, DURATION, GAPS, OVERHEAD, QUEUE, HELD),
    *(REQUESTS, ACTIONS, FINDINGS, ATTEMPTS, DROPPED),
    *(ENGINE_UP, ENGINE_IN_FLIGHT, ACTIVE, AUDIT_UP, BUILD),
)
