"""A running proxy: its listeners, its health checks, its log; begun and ended in order.

Start: log, telemetry, engines' probes, listeners.  Stop: listeners take no more, running
exchanges finish up to a limit, probes end, the log closes, telemetry flushes.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import structlog
from aiohttp import ClientSession, web

from ..audit import Ledger
from ..audit.files import Files
from ..detectors import Detector
from ..telemetry import Telemetry
from .access import Access
from .admin import Admin
from .assembly import (
    build_engines,
    build_router,
    load_policies,
    patience,
    telemetry_options,
)
from .config import Config
from .detection import load_detectors
from .dialects.openai import OpenAI
from .duty import duties
from .engines import Engine
from .engines.health import Probe, watch_all
from .engines.upstream import Upstream
from .inspect import Inspector
from .recorder import Recorder
from .server import Server
from .world import Observer, World

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Gate:
    """A proxy that is up."""

    world: World
    engines: Mapping[str, Engine]
    observers: list[Observer]
    """Told of every request; more may be appended."""
    addresses: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Host and port by listener name, "admin" for the admin listener."""

    server: Server | None = None
    """What the listeners serve."""
    admin: Admin | None = None

    def url(self, listener: str = "main") -> str:
        """The base address of a listener."""
        host, port = self.addresses[listener]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def cut(self) -> None:
        """Do not wait for running exchanges any longer: they are aborted, on record."""
        if self.server is not None:
            self.server.cut()


@asynccontextmanager
async def running(
    config: Config, *, detectors: Sequence[Detector] | None = None, files: Files | None = None
) -> AsyncIterator[Gate]:
    """Run a proxy for as long as the context lasts.

    `detectors` are those of the configuration unless given; `files` is what the audit log
    writes with.

    Raises:
        ConfigError: a detector or a policy cannot be used.
        LedgerFailed: the audit log cannot be opened.
        OSError: an address cannot be listened on.

    """
    if detectors is None:
        detectors = await asyncio.to_thread(load_detectors, config)
    policies = await asyncio.to_thread(load_policies, config, detectors)
    engines = build_engines(config)
    async with AsyncExitStack() as stack:
        ledger = await asyncio.to_thread(
            Ledger.open, config.audit.dir, origin=config.audit.origin, files=files
        )
        stack.push_async_callback(ledger.close)
        telemetry = Telemetry.start(telemetry_options(config))
        stack.push_async_callback(asyncio.to_thread, telemetry.shutdown)
        prober = await stack.enter_async_context(ClientSession(trust_env=False))
        upstream = Upstream(patience(config))
        stack.callback(upstream.close)
        limit, asked = config.limits.inspect_timeout, duties(config.detectors)
        inspector = Inspector(detectors, limit, asked)
        stack.callback(inspector.close)
        router = build_router(config, engines, policies, detectors, inspector.first)
        observers: list[Observer] = []
        world = World(
            dialect=OpenAI(),
            router=router,
            access=Access(config.access),
            inspector=inspector,
            recorder=Recorder(ledger),
            upstream=upstream,
            limits=config.limits,
            telemetry=telemetry,
            observers=observers,
            record_first=config.audit.mode == "pre_upstream",
            started=int(time.time()),
            now=asyncio.get_running_loop().time,
        )
        gate = Gate(world, {name: engine for name, (engine, _) in engines.items()}, observers)
        _expose_engines(gate)
        await stack.enter_async_context(_probing(list(engines.values()), world, prober))
        gate.admin = admin = Admin(world, ledger, telemetry)
        await _listen(stack, config, gate, admin)
        try:
            yield gate
        finally:
            admin.draining = True
            _log.info("gate.draining", limit_seconds=config.limits.drain)


def _expose_engines(gate: Gate) -> None:
    for engine in gate.engines.values():
        gate.world.telemetry.metrics.engine_up(engine.name, up=False)
        gate.world.telemetry.metrics.watch_engine(engine.name, partial(_in_flight, engine))


def _in_flight(engine: Engine) -> float:
    return float(engine.inflight)


@asynccontextmanager
async def _probing(
    engines: Sequence[tuple[Engine, Probe]], world: World, client: ClientSession
) -> AsyncIterator[None]:
    def changed(engine: Engine) -> None:
        world.telemetry.metrics.engine_up(engine.name, up=bool(engine.probed))

    task = asyncio.ensure_future(watch_all(engines, client, changed))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _listen(stack: AsyncExitStack, config: Config, gate: Gate, admin: Admin) -> None:
    """Open every listener; each stops, and drains, when the stack unwinds."""
    runner = web.AppRunner(admin.app(), access_log=None, shutdown_timeout=1)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, config.admin.host, config.admin.port).start()
    address = runner.addresses[0]
    gate.addresses["admin"] = address[0], address[1]
    server = gate.server = Server(lambda: gate.world)
    gate.world.telemetry.metrics.watch_active(lambda: float(server.active))
    stack.push_async_callback(server.shutdown, config.limits.drain)
    for name, listener in config.listeners.items():
        listening = await asyncio.get_running_loop().create_server(
            server, listener.host, listener.port, backlog=1024
        )
        stack.callback(listening.close)
        address = listening.sockets[0].getsockname()
        gate.addresses[name] = address[0], address[1]
        _log.info("gate.listening", listener=name, address=gate.url(name))
