import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.audit.logs import FaultyFiles
from tests.fakes.answers import Stall, after
from tests.fakes.engine import FakeEngine
from tests.fakes.scenarios import normal
from tests.gates import PATIENCE, Proxy, eventually, hello, posted, proxied

from tidegate.proxy import server as subject
from tidegate.proxy.server import Server

GET = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


def told(answer: bytes) -> tuple[int, Any]:
    """The status and the error of an answer."""
    return int(answer.split()[1]), json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def serving(proxy: Proxy) -> Server:
    assert proxy.gate.server is not None
    return proxy.gate.server


async def opened(proxy: Proxy) -> list[Any]:
    """The server's side of the connections, once there is one."""
    await eventually(lambda: proxy.connections > 0)
    return list(serving(proxy).connections)


async def test_a_refusal_is_final_and_a_failure_is_not(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.post({"model": "m"}) as refused:
            final = refused.headers.get("X-Should-Retry")
        async with proxy.post(hello(model="fake-text-500")) as failed:
            maybe = failed.headers.get("X-Should-Retry")
        told = await proxy.settled(2)
        ids = [refused.headers["X-Request-Id"], failed.headers["X-Request-Id"]]

    assert (final, maybe) == ("false", None)
    assert ids == [m.request_id for m in told]
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", i) for i in ids)


@pytest.mark.parametrize("started", [False, True])
async def test_a_fault_of_ours_is_told_without_its_text(
    tmp_path: Path,
    fake_engine: FakeEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    started: bool,
) -> None:
    async def broken(x: Any, w: Any, reply: Any) -> None:
        if started:
            reply.start("text/event-stream")
        raise RuntimeError("the prompt of a client")

    async with proxied(tmp_path, fake_engine) as proxy:
        monkeypatch.setattr(subject, "carry", broken)
        async with proxy.post(hello()) as answer:
            status, body = answer.status, await answer.read()
    log = capsys.readouterr().out

    assert status == (200 if started else 500)
    assert b'"code":"internal_error"' in body
    assert b"prompt of a client" not in body
    assert "request.broke" in log
    assert "RuntimeError" in log
    assert "prompt of a client" not in log


async def test_a_client_that_is_gone_is_answered_nothing(
    tmp_path: Path,
    fake_engine: FakeEngine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def gone(*_: Any) -> None:
        raise ConnectionResetError

    async with proxied(tmp_path, fake_engine) as proxy:
        monkeypatch.setattr(subject, "carry", gone)
        answer = await proxy.say(posted(hello()))

    assert answer == b""
    assert caplog.records == []


@pytest.mark.parametrize(
    ("request_", "status", "code", "words"),
    [
        (b"nonsense\r\n\r\n", 400, "bad_http", "well-formed"),
        (GET + b"X-A: " + b"x" * 9000 + b"\r\n\r\n", 431, "headers_too_large", "too long"),
        (GET + b"X-A: x\r\n" * 150 + b"\r\n", 400, "bad_http", "headers"),
        (GET + b"X-A: a\0b\r\n\r\n", 400, "bad_http", ""),
    ],
)
async def test_what_is_no_http_is_recorded_told_and_ends_the_connection(
    tmp_path: Path, fake_engine: FakeEngine, request_: bytes, status: int, code: str, words: str
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(request_)
        [settled] = await proxy.settled()
    got, error = told(answer)
    [opening] = proxy.openings

    assert (got, error["code"]) == (status, code)
    assert words in error["message"]
    assert settled.outcome == "bad_request"
    assert (opening["act"], opening["req"]["id"]) == ("error", settled.request_id)


async def test_what_is_no_http_is_not_answered_while_the_log_cannot_be_written(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    files = FaultyFiles()
    async with proxied(tmp_path, fake_engine, files=files) as proxy:
        files.failing = {"write": 10**6, "create": 10**6}
        answer = await proxy.say(b"nonsense\r\n\r\n")
        files.failing = {}

    assert told(answer)[1]["code"] == "audit_unavailable"


async def test_a_broken_chunk_is_told_to_who_reads_the_body_and_not_read_on(
    tmp_path: Path, fake_engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    head = posted(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(head)
        [connection] = await opened(proxy)
        await eventually(lambda: connection.current is not None)
        writer.write(b"zz\r\n")
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert told(answer)[1]["code"] == "bad_body"
    assert len(proxy.closings) == 1
    assert caplog.records == []


async def test_a_broken_request_behind_a_whole_one_does_it_no_harm(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(after(Stall(), normal({})))
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(posted(hello()))
        call = await fake_engine.call()
        writer.write(b"nonsense\r\n\r\n")
        [connection] = await opened(proxy)
        await eventually(lambda: bool(connection.ahead))
        call.resume.set()
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"bad_http" in answer
    assert len(proxy.closings) == 2


async def test_shutdown_waits_for_what_runs_and_cuts_off_what_takes_too_long(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(after(Stall(), normal({})), after(Stall(), normal({})))
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.connection() as (reader, writer), proxy.connection() as (_, other):
            writer.write(posted(hello()))
            first = await fake_engine.call()
            other.write(posted(hello()))
            second = await fake_engine.call(1)
            server = serving(proxy)
            asyncio.get_running_loop().call_soon(first.resume.set)
            await asyncio.wait_for(server.shutdown(0.3), PATIENCE)
            answer = await asyncio.wait_for(reader.read(-1), PATIENCE)
            await asyncio.wait_for(second.gone.wait(), PATIENCE)
        outcomes = sorted(m.outcome for m in await proxy.settled(2))

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert outcomes == ["client_left", "ok"]
    assert sorted(closing["st"] for closing in proxy.closings) == ["aborted", "complete"]
