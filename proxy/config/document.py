"""The typed configuration: every key of `tidegate.yaml`, its type, default and meaning.

The descriptions here are what docs/configuration.md is made from.  All maps are keyed by name,
so that each value also has a variable: `engines.a.url` is TIDEGATE_ENGINES__A__URL.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr

from ...policies.problem import Problem
from ...policies.source import Source
from . import values as v
from .limits import Limits

MOST_LISTENERS = 16
DEFAULT_POLICY = "default"
_NOWHERE = Source("", {}, {}, {})


class Part(BaseModel):
    """Unknown keys are mistakes; nothing changes after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Listener(Part):
    """An address that clients connect to."""

    host: v.Host = Field(default="127.0.0.1", description="Address to listen on.")
    port: v.Port = Field(
        default=8080, description="Port to listen on; 0 lets the system choose one."
    )


class Admin(Part):
    """The address of `/livez`, `/readyz` and `/metrics`, which ask for no key."""

    host: v.Host = Field(default="127.0.0.1", description="Address to listen on; keep it private.")
    port: v.Port = Field(
        default=9090, description="Port to listen on; 0 lets the system choose one."
    )


class Engine(Part):
    """An inference server."""

    url: v.Url = Field(description="Base address, without `/v1`: `http://10.0.0.7:8000`.")
    kind: Literal["openai", "vllm", "sglang", "llamacpp", "tgi", "ollama"] = Field(
        default="openai",
        description="The software it runs; `openai` for anything that speaks that API.",
    )
    api_key: v.Secret | None = Field(
        default=None, description="Credential sent to the engine. Prefer the variable or the file."
    )
    api_key_env: str | None = Field(
        default=None, max_length=200, description="Environment variable that holds the credential."
    )
    api_key_file: Path | None = Field(
        default=None,
        description="File that holds the credential, relative to the configuration file.",
    )
    weight: float = Field(
        default=1.0, ge=0.01, le=1000, description="Share of the traffic, relative to its pool."
    )
    max_inflight: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Most requests at once; without it, no limit.",
    )


class Health(Part):
    """Active checks of a pool's engines."""

    path: v.UrlPath | None = Field(
        default=None,
        description="Path that answers 2xx while all is well; without it, by the engine's kind:"
        " `/api/version` for `ollama`, `/v1/models` for `openai`, `/health` for others.",
    )
    interval: v.PositiveSeconds = Field(default=5.0, description="Time between checks.")
    timeout: v.PositiveSeconds = Field(
        default=2.0, description="Time after which a check has failed."
    )
    healthy_after: int = Field(
        default=1, ge=1, le=100, description="Good checks until an engine is up."
    )
    unhealthy_after: int = Field(
        default=2, ge=1, le=100, description="Failed checks until an engine is down."
    )


class Eject(Part):
    """When live traffic takes an engine out of its pool for a while."""

    errors: int = Field(
        default=3, ge=1, le=1000, description="Failures in a row that eject an engine."
    )
    for_: v.PositiveSeconds = Field(
        default=30.0, alias="for", description="How long the engine stays out."
    )


class Pool(Part):
    """Engines that can stand in for each other."""

    engines: v.Names = Field(description="Names of its engines.")
    required: bool = Field(
        default=True, description="Whether `/readyz` is red while none of its engines is up."
    )
    health: Health = Field(default=Health(), description="Active checks.")
    eject: Eject = Field(default=Eject(), description="Passive ejection.")
    retries: int = Field(
        default=1,
        ge=0,
        le=3,
        description="Further engines tried before the first byte reached the client.",
    )


class Route(Part):
    """Which requests go to which pool, under which policy."""

    models: v.ModelGlobs = Field(
        description="Model names it serves; `*` stands for any characters. The narrower name wins."
    )
    pool: v.Name = Field(description="Name of its pool.")
    model: v.ModelName | None = Field(
        default=None,
        description="The engine's own name for the model; without it, as the caller wrote.",
    )
    policy: v.Name = Field(default=DEFAULT_POLICY, description="Name of its policy.")
    paths: v.UrlPaths | None = Field(
        default=None, description="API paths it serves, such as `/v1/embeddings`; without it, all."
    )


class PolicyFile(Part):
    """A policy: a pack that comes with Tidegate, or a file of your own."""

    pack: str | None = Field(
        default=None,
        max_length=64,
        description="Name of a pack: `default`, `strict` or `monitor`.",
    )
    file: Path | None = Field(
        default=None, description="Policy file, relative to the configuration file."
    )


class Direction(Part):
    """How a detector reads requests, or answers."""

    timeout_ms: int | None = Field(
        default=None,
        ge=1,
        le=600_000,
        description="Longest time it may take over one of them, in milliseconds; what is not read"
        " by then was not inspected. Without it only `limits.inspect_timeout` bounds it.",
    )
    on_error: Literal["block", "flag", "allow"] | None = Field(
        default=None,
        description="What happens where it fails or is late; without it, what the policy says.",
    )


class Detector(Part):
    """A detector, by the name it is installed under."""

    enabled: bool = Field(
        default=True, description="Whether it is used; `false` takes out one that comes along."
    )
    input: Direction = Field(default=Direction(), description="Over a request.")
    output: Direction = Field(default=Direction(), description="Over an answer.")
    options: Annotated[Mapping[str, Any], v.Frozen] = Field(
        default={},
        description="Its own settings, see [detectors.md](detectors.md#options); files are"
        " relative to the configuration file.",
    )


class Audit(Part):
    """The audit log."""

    dir: Path = Field(
        default=Path("audit"), description="Folder of the log, relative to the configuration file."
    )
    origin: str = Field(
        default="tidegate",
        min_length=1,
        max_length=200,
        pattern=r"^[!-*,-~]+$",
        description="Name of this log in its signed checkpoints; no blanks and no `+`.",
    )
    mode: Literal["pre_release", "pre_upstream"] = Field(
        default="pre_release",
        description="What waits until the decision is on record: the first byte released to the"
        " client, or already the request sent to the engine.",
    )
    on_failure: Literal["closed"] = Field(
        default="closed", description="Requests are refused while the log cannot be written."
    )


class Otlp(Part):
    """Where traces and metrics are sent."""

    endpoint: v.Url | None = Field(
        default=None,
        description="Collector address, such as `http://127.0.0.1:4318`; without it, none.",
    )
    protocol: Literal["http/protobuf", "grpc"] = Field(
        default="http/protobuf", description="OTLP over HTTP (usually port 4318) or gRPC (4317)."
    )
    headers: Annotated[Mapping[v.HeaderName, v.Secret], v.Frozen] = Field(
        default={}, description="Headers sent along, such as a token; values are kept secret."
    )
    timeout: v.PositiveSeconds = Field(default=10.0, description="Time one export may take.")


class Telemetry(Part):
    """Traces, metrics and logs."""

    otlp: Otlp = Field(default=Otlp(), description="OTLP export.")
    service_name: str = Field(
        default="tidegate",
        min_length=1,
        max_length=200,
        description="`service.name` of this instance.",
    )
    sample_ratio: float = Field(
        default=1.0, ge=0, le=1, description="Share of traces kept when the caller did not decide."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severity that is logged."
    )


class Anonymous(Part):
    """What callers without a key may do."""

    enabled: bool = Field(default=False, description="Whether callers without a key are served.")
    tenant: v.Name = Field(default="anonymous", description="The tenant they count as.")
    routes: v.RouteGlobs = Field(default=("*",), description="Routes they may use.")


class Key(Part):
    """One caller; its name in the map is the caller's name on record."""

    hash: v.KeyHash = Field(description="Salted hash of the key, from `tidegate key new`.")
    tenant: v.Name = Field(default="default", description="The tenant the caller belongs to.")
    routes: v.RouteGlobs = Field(default=("*",), description="Routes the caller may use.")


def _anonymous(value: Any) -> Any:
    """`anonymous: true` and `TIDEGATE_ACCESS__ANONYMOUS=true` are short for `enabled`."""
    return {"enabled": value} if isinstance(value, (bool, str)) else value


class AccessKeys(Part):
    """Who may call."""

    anonymous: Annotated[Anonymous, BeforeValidator(_anonymous)] = Field(
        default=Anonymous(), description="`true`, `false`, or a map of these keys."
    )
    anonymous_anywhere: bool = Field(
        default=False,
        description="Serve callers without a key on other addresses than loopback too.",
    )
    keys: Annotated[Mapping[v.Name, Key], v.Frozen] = Field(
        default={}, description="Callers by name."
    )


class Config(Part):
    """The whole configuration."""

    listeners: Annotated[Mapping[v.Name, Listener], v.Frozen] = Field(
        default={"main": Listener()},
        min_length=1,
        max_length=MOST_LISTENERS,
        description="Addresses for clients.",
    )
    admin: Admin = Field(default=Admin(), description="Address for operators.")
    engines: Annotated[Mapping[v.Name, Engine], v.Frozen] = Field(
        min_length=1, description="Inference servers by name."
    )
    pools: Annotated[Mapping[v.Name, Pool], v.Frozen] = Field(
        min_length=1, description="Groups of engines by name."
    )
    routes: Annotated[Mapping[v.Name, Route], v.Frozen] = Field(
        min_length=1, description="Routes by name."
    )
    policies: Annotated[Mapping[v.Name, PolicyFile], v.Frozen] = Field(
        default={DEFAULT_POLICY: PolicyFile(pack="default")},
        min_length=1,
        description="Policies by name.",
    )
    detectors: Annotated[Mapping[v.Name, Detector], v.Frozen] = Field(
        default={},
        description="Detectors by name. Those that come along are used without being named, others"
        " when they are.",
    )
    audit: Audit = Field(default=Audit(), description="The audit log.")
    telemetry: Telemetry = Field(default=Telemetry(), description="Traces, metrics, logs.")
    access: AccessKeys = Field(default=AccessKeys(), description="Who may call.")
    limits: Limits = Field(
        default=Limits(), description="Bounds on what is accepted and waited for."
    )

    _warnings: tuple[Problem, ...] = PrivateAttr(())
    _source: Source = PrivateAttr(_NOWHERE)

    @property
    def source(self) -> Source:
        """Where each value was written, for mistakes that are found later."""
        return self._source

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is not wrong but surely not meant, such as an engine in no pool."""
        return self._warnings

    def read_from(self, source: Source, warnings: tuple[Problem, ...]) -> "Config":
        """The same configuration with its source and these warnings."""
        copy = self.model_copy()
        copy._source = source  # noqa: SLF001 - its own class
        copy._warnings = warnings  # noqa: SLF001 - the same
        return copy
