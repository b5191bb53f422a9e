"""The demo as a whole: engines up, proxy up, tour, proof, and then yours to play with."""

import asyncio
import os
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import aiohttp

from ...audit import LedgerFailed
from ..config import Config
from ..gate import Gate, running
from .client import Client
from .engine import HOST, MODEL, DemoEngine
from .hints import hints
from .proof import proof
from .report import Fact, Report, wants_colour
from .tour import STEPS, Scene, good, take
from .watch import Notebook, span_tree

LISTENER = "main"
USUAL_PORT = 8080
TRACED = 1
"""The streamed chat: its trace shows the most."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are in this run."""

    audit_dir: Path
    url: str
    admin_url: str


async def demo(*, once: bool, audit_dir: Path | None, port: int | None, out: TextIO) -> int:
    """Run the demo; 0 only if every step had the outcome it names and the log verifies.

    `port` None means 8080 if that is free, else any free one; 0 any free one.  Without
    `audit_dir` the log goes to a new temporary folder, which stays.  Unless `once`, the proxy
    stays up until SIGINT or SIGTERM.  A demo that cannot start says why and gives 1.
    """
    report = Report(out, colour=wants_colour(out, os.environ))
    directory = audit_dir or Path(tempfile.mkdtemp(prefix="tidegate-demo-")) / "audit"
    try:
        return await _run(report, directory, _port(port), once=once)
    except (OSError, LedgerFailed) as error:
        report.verdict(f"The demo cannot run: {error}", good=False)
        return 1


async def _run(report: Report, audit_dir: Path, port: int, *, once: bool) -> int:
    engines = (DemoEngine("engine-a"), DemoEngine("engine-b"))
    async with AsyncExitStack() as stack:
        for engine in engines:
            await stack.enter_async_context(_up(engine))
        gate = await stack.enter_async_context(running(configuration(engines, audit_dir, port)))
        places = Places(audit_dir, gate.url(LISTENER), gate.url("admin"))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        scene = Scene(Client(session, places.url), engines, _notebook(gate))
        _introduce(report, engines, places)
        outcomes = await _tour(report, scene)
        outcomes.append(("The audit log verifies", await _prove(report, scene, places)))
        await _where(report, scene, places)
        report.title("How it went")
        for title, came_out in outcomes:
            report.verdict(title, good=came_out)
        if not once:
            await _stay(report, places)
    return 0 if all(came_out for _, came_out in outcomes) else 1


def configuration(engines: Iterable[DemoEngine], audit_dir: Path, port: int) -> Config:
    """Make the configuration: one pool, one route, the default policy, no keys, loopback only."""
    urls = {engine.name: engine.url for engine in engines}
    tree: dict[str, Any] = {
        "listeners": {LISTENER: {"host": HOST, "port": port}},
        "admin": {"host": HOST, "port": 0},
        "engines": {name: {"url": url, "kind": "vllm"} for name, url in urls.items()},
        "pools": {"demo": {"engines": [*urls]}},
        "routes": {"demo": {"models": [MODEL], "pool": "demo"}},
        "policies": {"default": {"pack": "default"}},
        "audit": {"dir": audit_dir, "origin": "tidegate-demo"},
        "access": {"anonymous": True},
        "limits": {"drain": "1s"},
    }
    return Config.model_validate(tree)


def _notebook(gate: Gate) -> Notebook:
    notebook = Notebook()
    gate.observers.append(notebook)
    return notebook


@asynccontextmanager
async def _up(engine: DemoEngine) -> AsyncIterator[None]:
    await engine.start()
    try:
        yield
    finally:
        await engine.kill()


def _introduce(report: Report, engines: tuple[DemoEngine, ...], places: Places) -> None:
    report.title("Tidegate demo")
    for engine in engines:
        report.fact(Fact(f"{engine.name}  {engine.url}  embedded, speaks the OpenAI API"))
    report.fact(Fact(f"tidegate  {places.url}  default policy, callers need no key"))
    report.fact(Fact(f"audit log {places.audit_dir}"))


async def _tour(report: Report, scene: Scene) -> list[tuple[str, bool]]:
    """Take each step, and tell for each title whether it came out as named."""
    outcomes = []
    for number, step in enumerate(STEPS, 1):
        report.title(f"{number}. {step.title}")
        report.prose(step.says)
        facts = await take(step, scene)
        for fact in facts:
            report.fact(fact)
        outcomes.append((f"{number}. {step.title}", good(facts)))
    return outcomes


async def _prove(report: Report, scene: Scene, places: Places) -> bool:
    """Verify the audit log of the tour."""
    report.title("The audit log of what just happened")
    facts = await proof(places.audit_dir, [told.request_id for told in scene.client.asked])
    for fact in facts:
        report.fact(fact)
    report.fact(Fact(f"to repeat: tidegate audit verify {places.audit_dir}"))
    return good(facts)


async def _where(report: Report, scene: Scene, places: Places) -> None:
    """Say where the record, the trace and the metrics of each request are."""
    report.title("Where to look, request by request")
    for number, told in enumerate(scene.client.asked, 1):
        show = f"tidegate audit show {told.request_id} --dir {places.audit_dir}"
        report.line(f"  {number}  HTTP {told.status}   trace {told.trace_id}")
        report.line(f"     {show}")
    report.line(f"  metrics of all: {places.admin_url}/metrics")
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    if endpoint:
        report.line(f"  traces of all: sent to {endpoint}")
    else:
        await _draw(report, scene)


async def _draw(report: Report, scene: Scene) -> None:
    """Draw one trace in the place of a collector."""
    told = scene.client.asked[TRACED]
    report.title(f"Trace {told.trace_id} (set OTEL_EXPORTER_OTLP_ENDPOINT to send all)")
    try:
        measured = await scene.notebook.of(told.request_id)
    except TimeoutError:
        report.fact(Fact("was not measured"))
        return
    for row in span_tree(measured):
        report.line(f"  {row}")


async def _stay(report: Report, places: Places) -> None:
    """Show what can be tried, and wait for SIGINT or SIGTERM."""
    report.title("The proxy stays up for you")
    for row in hints(places.url, places.admin_url):
        report.line(f"  {row}" if row else "")
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        await stopped.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _port(wanted: int | None) -> int:
    """Choose the port to listen on, 0 for any that is free."""
    if wanted is not None:
        return wanted
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, USUAL_PORT))
        except OSError:
            return 0
    return USUAL_PORT
