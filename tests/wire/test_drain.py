"""`tidegate serve` as a process: signals, drains, exit status."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fakes.answers import Stall, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import DONE, finish, frame, role, says
from tests.gates import CHAT, PATIENCE, hello
from tests.receivers import free_port

from tidegate.audit import verify

MIDWAY = stream(frame(role()), frame(says("Hello")), Stall(), frame(finish()), DONE)


class Served:
    """A `tidegate serve` that is ready."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, audit: Path) -> None:
        self.process = process
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self.audit = audit

    async def exit_status(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def refuses(self) -> None:
        """Wait until it takes no more connections."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except (ConnectionRefusedError, ConnectionResetError):
                    return
                writer.close()
                await asyncio.sleep(0)


@asynccontextmanager
async def serving(folder: Path, engine: FakeEngine, **limits: str) -> AsyncIterator[Served]:
    port, admin = free_port(), free_port()
    document: dict[str, Any] = {
        "listeners": {"main": {"port": port}},
        "admin": {"port": admin},
        "engines": {"a": {"url": engine.url}},
        "pools": {"main": {"engines": ["a"]}},
        "routes": {"chat": {"models": ["*"], "pool": "main"}},
        "access": {"anonymous": True},
        "audit": {"dir": "audit"},
        "limits": limits,
    }
    path = folder / "tidegate.yaml"
    path.write_text(json.dumps(document), "utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidegate.proxy", "serve", "-c", str(path),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
    )  # fmt: skip
    try:
        await ready(f"http://127.0.0.1:{admin}/readyz", process)
        yield Served(process, port, folder / "audit")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ready(url: str, process: asyncio.subprocess.Process) -> None:
    async with aiohttp.ClientSession() as http, asyncio.timeout(PATIENCE * 2):
        while process.returncode is None:
            try:
                async with http.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.02)
    raise AssertionError("it ended before it was ready")


async def test_a_running_stream_finishes_then_the_log_is_closed_and_the_status_is_0(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(MIDWAY)
    async with (
        serving(tmp_path, fake_engine) as served,
        aiohttp.ClientSession() as http,
        http.post(served.url + CHAT, json=hello(stream=True)) as answer,
    ):
        await answer.content.readuntil(b"Hello")
        served.process.send_signal(signal.SIGTERM)
        await served.refuses()
        (await fake_engine.call()).resume.set()
        rest = await answer.content.read()
        status = await served.exit_status()
    report = verify(served.audit)

    assert rest.endswith(DONE)
    assert status == 0
    assert report.exit_code == 0
    assert [(log.decisions, log.completions, log.aborts) for log in report.logs] == [(1, 1, 0)]


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_cuts_off_what_still_runs_and_the_log_is_closed_all_the_same(
    tmp_path: Path, fake_engine: FakeEngine, second: signal.Signals
) -> None:
    fake_engine.then(MIDWAY)
    async with (
        serving(tmp_path, fake_engine) as served,
        aiohttp.ClientSession() as http,
        http.post(served.url + CHAT, json=hello(stream=True)) as answer,
    ):
        await answer.content.readuntil(b"Hello")
        served.process.send_signal(signal.SIGTERM)
        await served.refuses()
        served.process.send_signal(second)
        status = await served.exit_status()
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.content.read()
    report = verify(served.audit)

    assert status == 0
    assert (await fake_engine.call()).gone.is_set()
    assert report.exit_code == 0
    assert [(log.decisions, log.completions) for log in report.logs] == [(1, 1)]


async def test_what_runs_longer_than_the_limit_is_cut_off(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(MIDWAY)
    async with (
        serving(tmp_path, fake_engine, drain="200ms") as served,
        aiohttp.ClientSession() as http,
        http.post(served.url + CHAT, json=hello(stream=True)) as answer,
    ):
        await answer.content.readuntil(b"Hello")
        served.process.send_signal(signal.SIGINT)
        status = await served.exit_status()
    report = verify(served.audit)

    assert status == 0
    assert report.exit_code == 0
    assert [(log.decisions, log.completions) for log in report.logs] == [(1, 1)]
