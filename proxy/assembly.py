"""Builds the parts of a World from a configuration.

Everything that can be wrong is found here, before a socket is opened: policies are compiled and
their own tests run with the detectors that will be used.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import structlog
from yarl import URL

from ..detectors import Detector, Finding, Pattern, Segment
from ..detectors.kinds import KINDS
from ..detectors.scanner import Scanner
from ..policies import (
    Action,
    Compiled,
    Direction,
    Find,
    Kinds,
    Mistakes,
    Place,
    Policy,
    Problem,
    library,
    load_policy,
    unseen,
)
from ..telemetry import TelemetryOptions
from .config import Config, ConfigError, ModelNames, PolicyFile
from .config import Engine as EngineConfig
from .config import Pool as PoolConfig
from .config.load import read
from .duty import NEVER, NO_DUTIES, USUAL, Duties, Terms, duties
from .engines import Engine, Pool
from .engines.health import Probe
from .engines.upstream import Patience
from .inspect import Patterned, all_patterns
from .routes import Output, Route, Router

_log = structlog.get_logger(__name__)


def logged(warning: Problem) -> None:
    """Tell the log of what is written in a configuration and has no effect."""
    _log.warning("config.warning", problem=str(warning))


def load_policies(
    config: Config, found: Sequence[Detector], warn: Callable[[Problem], None] = logged
) -> dict[str, Policy]:
    """The policies of a configuration by name; `warn` is told of rules without effect.

    Raises:
        ConfigError: with every mistake of every policy file, failed tests included.

    """
    policies: dict[str, Policy] = {}
    problems: list[Problem] = []
    for name, source in config.policies.items():
        try:
            policies[name] = _load(source, found, warn).policy
        except Mistakes as mistakes:
            problems += mistakes.problems
    if problems:
        raise ConfigError(problems)
    return policies


def test_policy(name: str, found: Sequence[Detector], warn: Callable[[Problem], None]) -> int:
    """Compile one policy file, or `pack:NAME`, and run its tests; how many there were.

    Raises:
        PolicyError: with every mistake and every failed test.
        ConfigError: the file cannot be read, or there is no such pack.

    """
    pack = name.removeprefix("pack:")
    if pack != name and pack not in library.names():
        known = ", ".join(library.names())
        problem = Place(name).problem(
            "there is no such pack", f"there are {known}", "name one of these"
        )
        raise ConfigError([problem])
    source = PolicyFile(pack=pack) if pack != name else PolicyFile(file=Path(name))
    return len(_load(source, found, warn).cases)


def _load(
    source: PolicyFile, found: Sequence[Detector], warn: Callable[[Problem], None]
) -> Compiled:
    text, file = policy_text(source)
    followed = {pattern.kind for detector in found for pattern in _patterns(detector)}
    reported = frozenset[str]().union(*(detector.kinds for detector in found))
    kinds = Kinds(KINDS.keys() | reported, reported, followed)
    compiled = load_policy(text, file, kinds, finder(found))
    for warning in unseen(compiled, kinds):
        warn(warning.problem)
    return compiled


def policy_text(source: PolicyFile) -> tuple[str, str]:
    """The text of a policy and the name of its file.  Raises ConfigError if it is not readable."""
    if source.file is not None:
        return read(source.file), str(source.file)
    pack = source.pack or "default"
    return library.text(pack), f"pack:{pack}"


def finder(found: Sequence[Detector]) -> Find:
    """All findings in one text: of these detectors, or in an answer of their patterns."""
    answers = all_patterns(found)

    def find(segment: Segment, direction: Direction) -> list[Finding]:
        if direction is Direction.OUTPUT:
            return answers.find(segment)
        return [finding for detector in found for finding in detector.find(segment)]

    return find


def build_engines(config: Config) -> dict[str, tuple[Engine, Probe]]:
    """Every engine with how its pool asks for its health."""
    engines: dict[str, tuple[Engine, Probe]] = {}
    for pool in config.pools.values():
        probe = Probe(
            pool.health.path or "",
            pool.health.interval,
            pool.health.timeout,
            pool.health.healthy_after,
            pool.health.unhealthy_after,
        )
        for name in pool.engines:
            engines.setdefault(name, (_engine(name, config.engines[name], pool), probe))
    return engines


def build_router(
    config: Config,
    engines: Mapping[str, tuple[Engine, Probe]],
    policies: Mapping[str, Policy],
    found: Sequence[Detector],
    first: Scanner | None = None,
) -> Router:
    """The routes, with their pools and policies; `first` has all patterns of the detectors."""
    asked = duties(config.detectors)
    random = Random()  # noqa: S311 - spreads load, hides nothing
    pools = {
        name: Pool(
            name, [engines[e][0] for e in pool.engines], random, pool.required, pool.retries
        )
        for name, pool in config.pools.items()
    }
    outputs = {
        name: build_output(policy, found, first, asked) for name, policy in policies.items()
    }
    routes = {
        name: Route(
            name=name,
            models=tuple(route.models),
            pool=pools[route.pool],
            policy=policies[route.policy],
            policy_name=route.policy,
            output=outputs[route.policy],
            engine_model=route.model or "",
        )
        for name, route in config.routes.items()
    }
    return Router(routes, ModelNames(config.routes))


def build_output(
    policy: Policy,
    found: Sequence[Detector],
    first: Scanner | None = None,
    asked: Duties = NO_DUTIES,
) -> Output:
    """What a policy's rules for answers need: patterns to hold for, patterns to follow."""
    acts = policy.kinds(Direction.OUTPUT, Action.REDACT)
    speaks = policy.kinds(Direction.OUTPUT)
    patterns = [pattern for detector in found for pattern in _patterns(detector)]
    held = Scanner([p for p in patterns if p.kind in acts])
    followed = Scanner([p for p in patterns if p.kind in speaks - acts])
    reported = frozenset[str]().union(*(detector.kinds for detector in found))
    unscreened = speaks & reported - held.kinds - followed.kinds
    first = first or all_patterns(found)
    sought = held.kinds | followed.kinds
    readers = [d.name for d in found if any(p.kind in sought for p in _patterns(d))]
    terms = _strictest([asked.get(name, USUAL).output for name in readers], policy.on_error)
    return Output(held, followed, first, tuple(sorted(unscreened)), terms)


def _strictest(terms: Sequence[Terms], of_policy: Action) -> Terms:
    """The terms of one reader for all: the patterns of all detectors are one automaton."""
    timeout = min((one.timeout_ns for one in terms), default=NEVER)
    said = [one.on_error for one in terms]
    if not any(act is not None for act in said):
        return Terms(timeout)  # the policy is asked when it happens
    return Terms(timeout, max(of_policy if act is None else act for act in said))


def _patterns(detector: Detector) -> Sequence[Pattern]:
    return detector.scanner.patterns if isinstance(detector, Patterned) else ()


def _engine(name: str, engine: EngineConfig, pool: PoolConfig) -> Engine:
    path = URL(str(engine.url)).path.rstrip("/").removesuffix("/v1")
    key = engine.api_key.get_secret_value() if engine.api_key is not None else ""
    return Engine(
        name=name,
        kind=engine.kind,
        url=URL(str(engine.url)).with_path(path or "/"),
        headers=(("Authorization", f"Bearer {key}"),) if key else (),
        weight=engine.weight,
        max_inflight=engine.max_inflight or 0,
        eject_after=pool.eject.errors,
        eject_for=pool.eject.for_,
    )


def patience(config: Config) -> Patience:
    """How long engines are waited for."""
    limits = config.limits
    return Patience(limits.connect_timeout, limits.first_byte_timeout, limits.stall_timeout)


def telemetry_options(config: Config) -> TelemetryOptions:
    """Telemetry's settings; what the file leaves open, OTEL_ variables say."""
    otlp = config.telemetry.otlp
    return TelemetryOptions(
        endpoint=str(otlp.endpoint) if otlp.endpoint else None,
        protocol=otlp.protocol if otlp.endpoint else None,
        headers={name: value.get_secret_value() for name, value in otlp.headers.items()},
        service_name=config.telemetry.service_name,
        sample_ratio=config.telemetry.sample_ratio,
        timeout=otlp.timeout if otlp.endpoint else None,
    )
