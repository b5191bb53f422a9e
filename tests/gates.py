"""A whole proxy in this process, between a test's client and its fake engines.

Its end is part of every test: the audit log must verify, and every decision must have ended.
"""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import aiohttp
from tests.audit.logs import records_of
from tests.fakes.engine import FakeEngine

from tidegate.audit import verify
from tidegate.audit.files import Files
from tidegate.detectors import Detector
from tidegate.detectors.scanner import Scanner
from tidegate.policies import Policy
from tidegate.proxy import assembly
from tidegate.proxy.assembly import build_output
from tidegate.proxy.config import Config, load
from tidegate.proxy.detection import load_detectors
from tidegate.proxy.duty import Duties
from tidegate.proxy.engines import Engine
from tidegate.proxy.gate import Gate, running
from tidegate.proxy.routes import Output
from tidegate.telemetry import Measurement

PATIENCE = 20.0
"""Seconds until a wait is a failure; no test waits this long when things go well."""
CHAT = "/v1/chat/completions"
HELLO: Mapping[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi there"}]}


class InOrder(Random):
    """Lets a pool take the first of equally busy engines."""

    def getrandbits(self, k: int, /) -> int:
        return 1


@cache
def detectors() -> list[Detector]:
    """Loaded once: that takes longer than most tests."""
    return load_detectors()


OUTPUTS: dict[object, Output] = {}


def output(
    policy: Policy, found: Sequence[Detector], first: Scanner | None, asked: Duties
) -> Output:
    """As `build_output`, once for each policy: compiling its patterns takes most of a start."""
    key = policy.digest, tuple(asked.items())
    if key not in OUTPUTS:
        OUTPUTS[key] = build_output(policy, found, first, asked)
    return OUTPUTS[key]


def hello(**more: Any) -> dict[str, Any]:
    """A chat request, with fields added or changed."""
    return {**HELLO, **more}


def posted(body: Any, *lines: str, path: str = CHAT) -> bytes:
    """A POST as it goes over the wire, with more header lines; `body` may be bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [
        f"POST {path} HTTP/1.1",
        "Host: proxy.example",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
        *lines,
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + data


class Diary:
    """An observer that keeps what it is told, to be waited for."""

    def __init__(self) -> None:
        self.entries: list[Measurement] = []
        self._changed = asyncio.Event()

    def settled(self, measurement: Measurement) -> None:
        self.entries.append(measurement)
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, count: int) -> list[Measurement]:
        """The first `count` requests that were over, as soon as there are as many."""
        async with asyncio.timeout(PATIENCE):
            while len(self.entries) < count:
                await self._changed.wait()
        return self.entries[:count]


@dataclass(slots=True)
class Proxy:
    """A running proxy and a client for it; its records can be read once it has ended."""

    gate: Gate
    audit: Path
    http: aiohttp.ClientSession
    diary: Diary = field(default_factory=Diary)

    @property
    def port(self) -> int:
        return self.gate.addresses["main"][1]

    @property
    def connections(self) -> int:
        """How many clients' connections are open."""
        return len(self.gate.server.connections) if self.gate.server is not None else 0

    @property
    def base_url(self) -> str:
        """What the official client is configured with."""
        return f"{self.gate.url()}/v1"

    @property
    def engines(self) -> Mapping[str, Engine]:
        return self.gate.engines

    def post(self, body: Any, path: str = CHAT, **options: Any) -> Any:
        """A request to be awaited or entered; `body` may be bytes."""
        url = self.gate.url() + path
        if isinstance(body, bytes):
            options.setdefault("headers", {}).setdefault("Content-Type", "application/json")
            return self.http.post(url, data=io.BytesIO(body), **options)
        return self.http.post(url, json=body, **options)

    async def ask(self, body: Any, path: str = CHAT, **options: Any) -> tuple[int, Any]:
        """The status and the JSON of an answer."""
        async with self.post(body, path, **options) as answer:
            return answer.status, await answer.json(content_type=None)

    async def stream(self, body: Any, path: str = CHAT, **options: Any) -> bytes:
        """Every byte of a streamed answer."""
        async with self.post(body, path, **options) as answer:
            assert answer.status == 200, await answer.read()
            assert answer.content_type == "text/event-stream"
            content: bytes = await answer.read()
            return content

    async def ready(self) -> tuple[int, str]:
        """What /readyz says."""
        async with self.http.get(self.gate.url("admin") + "/readyz") as answer:
            return answer.status, await answer.text()

    async def settled(self, count: int = 1) -> list[Measurement]:
        """Wait until this many requests are over."""
        return await self.diary.wait(count)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A bare connection to the proxy."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()

    async def say(self, data: bytes) -> bytes:
        """Send bytes on a connection of their own; everything that comes until it is closed."""
        async with self.connection() as (reader, writer):
            writer.write(data)
            return await until_closed(reader)

    def records(self, kind: str = "") -> list[dict[str, Any]]:
        """What the log holds of requests, or only the records of one kind."""
        kinds = [kind] if kind else ["llm.decision", "llm.completion", "llm.abort"]
        return [record for record in records_of(self.audit) if record["k"] in kinds]

    @property
    def openings(self) -> list[dict[str, Any]]:
        return self.records("llm.decision")

    @property
    def closings(self) -> list[dict[str, Any]]:
        return self.records("llm.completion")


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """Everything that comes until the other side closes, or resets, the connection."""
    pieces = []
    async with asyncio.timeout(PATIENCE):
        try:
            while piece := await reader.read(65536):
                pieces.append(piece)
        except ConnectionResetError:
            pass
    return b"".join(pieces)


def eventually(condition: Callable[[], bool]) -> Any:
    """Wait, one turn of the loop after the other, until a condition holds."""

    async def wait() -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
                await asyncio.sleep(0)

    return wait()


def configured(folder: Path, urls: Mapping[str, str], **sections: Any) -> Config:
    """A configuration with one pool of these engines; `sections` replace whole sections."""
    document = {
        "listeners": {"main": {"port": 0}},
        "admin": {"port": 0},
        "engines": {name: {"url": url} for name, url in urls.items()},
        "pools": {"main": {"engines": list(urls)}},
        "routes": {"chat": {"models": ["*"], "pool": "main"}},
        "access": {"anonymous": True},
        "audit": {"dir": "audit"},
    }
    path = folder / "tidegate.yaml"
    path.write_text(json.dumps(document | sections), "utf-8")  # JSON is YAML
    return load(path, {})


@asynccontextmanager
async def started(config: Config, files: Files | None) -> AsyncIterator[Gate]:
    """A running proxy, made from parts that are made once."""
    with patch.object(assembly, "build_output", output):
        async with running(config, detectors=detectors(), files=files) as gate:
            yield gate


@asynccontextmanager
async def proxied(
    folder: Path, *engines: FakeEngine | str, files: Files | None = None, **sections: Any
) -> AsyncIterator[Proxy]:
    """A proxy before engines a, b, …, asked in this order; verifies its log at its end."""
    urls = {
        chr(ord("a") + number): engine if isinstance(engine, str) else engine.url
        for number, engine in enumerate(engines)
    }
    config = configured(folder, urls, **sections)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE)) as http:
        async with started(config, files) as gate:
            proxy = Proxy(gate, config.audit.dir, http)
            gate.observers.append(proxy.diary)
            for route in gate.world.router.routes:
                route.pool.random = InOrder()
            yield proxy
        assert sum(engine.inflight for engine in gate.engines.values()) == 0
    report = verify(config.audit.dir)

    assert report.exit_code == 0, report.findings
    assert [log.decisions for log in report.logs] == [
        log.completions + log.aborts for log in report.logs
    ]
