"""Asks every engine regularly whether it is well.

A probe that hangs counts as failed after its timeout and delays nobody but itself.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import aiohttp
import structlog

from .engine import Engine

_log = structlog.get_logger(__name__)

USUAL_PATH = "/health"
USUAL_PATHS: Mapping[str, str] = MappingProxyType(
    {
        "ollama": "/api/version",  # without loading a model
        "openai": "/v1/models",  # all that any server of this API is sure to have
    }
)
"""What engines of a kind answer while they are well, where it is not USUAL_PATH."""


@dataclass(frozen=True, slots=True)
class Probe:
    """How the engines of one pool are asked; times in seconds."""

    path: str = ""
    """"" asks what is usual for the engine's kind."""
    interval: float = 5.0
    timeout: float = 2.0
    healthy_after: int = 1
    unhealthy_after: int = 2


async def watch(
    engine: Engine,
    probe: Probe,
    session: aiohttp.ClientSession,
    changed: Callable[[Engine], None],
) -> None:
    """Probe one engine until cancelled; `changed` hears of each change."""
    good = bad = 0
    while True:
        if await _ask(engine, probe, session):
            good, bad = good + 1, 0
        else:
            good, bad = 0, bad + 1
        first = engine.probed is None
        if good >= probe.healthy_after and not engine.probed:
            _set(engine, changed, up=True)
        elif engine.probed is not False and bad >= (1 if first else probe.unhealthy_after):
            _set(engine, changed, up=False)
        await asyncio.sleep(probe.interval)


async def watch_all(
    engines: Sequence[tuple[Engine, Probe]],
    session: aiohttp.ClientSession,
    changed: Callable[[Engine], None],
) -> None:
    """Probe all engines until cancelled."""
    async with asyncio.TaskGroup() as group:
        for engine, probe in engines:
            group.create_task(watch(engine, probe, session, changed))


def _set(engine: Engine, changed: Callable[[Engine], None], *, up: bool) -> None:
    engine.probed = up
    if up:
        engine.failures = 0
        engine.ejected_until = 0.0
    _log.info("engine.up" if up else "engine.down", engine=engine.name)
    changed(engine)


async def _ask(engine: Engine, probe: Probe, session: aiohttp.ClientSession) -> bool:
    path = probe.path or USUAL_PATHS.get(engine.kind, USUAL_PATH)
    url = engine.url.with_path(engine.url.path.rstrip("/") + path)
    timeout = aiohttp.ClientTimeout(total=probe.timeout)
    try:
        async with session.get(
            url, timeout=timeout, headers=engine.headers, allow_redirects=False
        ) as answer:
            return answer.status < 300  # noqa: PLR2004 - 2xx
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False
