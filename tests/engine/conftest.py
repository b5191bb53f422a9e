"""One real engine, a tap before it, and Tidegate before that, for all tests of this folder."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest
from openai import OpenAI
from tests.bench.process import free_port
from tests.bench.targets import TIDEGATE, configuration
from tests.engine.llama_server import ALIAS
from tests.engine.slots import Slots, wait_until
from tests.engine.tap import Tap
from tests.engine.weights import cache, weights

STARTS_WITHIN = 120.0
"""Seconds: reading the weights on a machine that does much else."""
STOPS_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class Service:
    """A running Tidegate."""

    port: int
    audit: Path
    otlp: int
    """The port that it exports its spans to."""

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self.port}/v1"


def answers(port: int, path: str) -> bool:
    """Whether a GET is answered with 200."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


@contextmanager
def running(command: list[str], port: int, ready: str, log: Path) -> Iterator[None]:
    """A child that is used once GET `ready` on `port` is answered, and ended by SIGTERM."""
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            wait_until(lambda: process.poll() is not None or answers(port, ready), STARTS_WITHIN)
            if process.poll() is not None:
                raise RuntimeError(
                    f"{command[0]} ended:\n{log.read_text(errors='replace')[-3000:]}"
                )
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOPS_WITHIN)
            finally:
                process.kill()


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a llama.cpp server."""
    port = free_port()
    script = Path(__file__).with_name("llama_server.py")
    command = [sys.executable, str(script), str(weights(cache())), str(port)]
    log = tmp_path_factory.mktemp("llama") / "log"
    with running(command, port, "/health", log):
        yield port


@pytest.fixture(scope="session")
def tap(llama: int) -> Iterator[Tap]:
    """What the engine is sent."""
    with Tap(llama) as relay:
        yield relay


@pytest.fixture(scope="session")
def tidegate(tap: Tap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Tidegate as a user starts it, before the real engine."""
    folder = tmp_path_factory.mktemp("tidegate")
    service = Service(free_port(), folder / "audit", free_port())
    settings = configuration(folder, service.port, tap.port, service.otlp)
    settings["engines"] = {"real": {"url": f"http://127.0.0.1:{tap.port}", "kind": "llamacpp"}}
    # One probe at the start: a later one, given up because this engine is slow, would look to the
    # tap like a caller who left.
    settings["pools"] = {"main": {"engines": ["real"], "health": {"interval": "1h"}}}
    settings["routes"] = {"real": {"models": [ALIAS], "pool": "main", "policy": "default"}}
    admin = free_port()
    settings["admin"] = {"host": "127.0.0.1", "port": admin}
    file = folder / "tidegate.yaml"
    file.write_text(json.dumps(settings))
    with running([TIDEGATE, "serve", "-c", str(file)], admin, "/readyz", folder / "log"):
        yield service


@pytest.fixture
def client(tidegate: Service, tap: Tap) -> Iterator[OpenAI]:
    """The official client, pointed at Tidegate, that tries everything only once."""
    tap.forget()
    with OpenAI(
        base_url=tidegate.base_url, api_key="not-needed", max_retries=0, timeout=120
    ) as client:
        yield client


@pytest.fixture
def slots(llama: int) -> Slots:
    """What the engine says it is doing."""
    return Slots(llama)
