import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.answers import Stall, after, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import frame, says
from tests.fakes.scenarios import normal
from tests.gates import PATIENCE, Proxy, eventually, hello, posted, proxied

from tidegate.proxy.clients import connection as subject
from tidegate.proxy.clients.connection import ClientConnection

GET = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
CHUNKED = posted(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")


def status(answer: bytes) -> int:
    return int(answer.split()[1])


async def opened(proxy: Proxy) -> ClientConnection:
    """The proxy's side of the connection, once there is one."""
    await eventually(lambda: proxy.connections > 0)
    assert proxy.gate.server is not None
    [connection] = proxy.gate.server.connections
    return connection


async def test_a_head_has_its_time_from_its_first_byte(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"header_timeout": "300ms"}) as proxy:
        late = await proxy.say(b"GET /v1")
        async with proxy.connection() as (reader, writer):
            writer.write(GET[:9])
            connection = await opened(proxy)
            await eventually(lambda: connection._head_timer is not None)
            began = connection._head_timer
            connection.data_received(GET[9:19])
            going_on = connection._head_timer
            writer.write(GET[19:] + b"\r\n")
            in_time = await asyncio.wait_for(reader.read(-1), PATIENCE)
        async with proxy.connection() as (_, writer):
            writer.write(GET[:9])
            await eventually(lambda: proxy.connections == 1)
        await eventually(lambda: proxy.connections == 0)

    assert status(late) == 408
    assert b'"code":"header_timeout"' in late
    assert going_on is began
    assert in_time.startswith(b"HTTP/1.1 200 ")


async def test_a_timer_that_fires_for_a_connection_at_work_does_nothing(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(after(Stall(), normal({})))
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(posted(hello(), "Connection: close"))
        call = await fake_engine.call()
        connection = await opened(proxy)
        connection._head_late()
        call.resume.set()
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)
        connection._look_at_writing()
        connection._watch_writing()

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert connection._write_timer is None


async def test_a_client_that_takes_something_gets_another_period(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with (
        proxied(tmp_path, fake_engine, limits={"write_timeout": "1h"}) as proxy,
        proxy.connection() as (reader, writer),
    ):
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's has it
        writer.write(posted(hello(model="fake-huge-json"), "Connection: close"))
        await proxy.settled()
        connection = await opened(proxy)
        await eventually(lambda: connection._write_timer is not None)
        connection._unsent += 1  # as if it had taken one byte since
        connection._look_at_writing()
        again = connection._write_timer is not None
        writer.transport.resume_reading()  # type: ignore[attr-defined]  # a socket's has it
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert again
    assert len(answer) > 24 << 20


async def test_a_client_that_takes_nothing_is_cut_off(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*([frame(says("x" * 30_000))] * 1000)))
    async with (
        proxied(tmp_path, fake_engine, limits={"write_timeout": "50ms"}) as proxy,
        proxy.connection() as (_, writer),
    ):
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's has it
        writer.write(posted(hello(stream=True)))
        [settled] = await proxy.settled()

    assert settled.outcome == "client_left"


async def test_connections_beyond_the_limit_are_told_so(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with (
        proxied(tmp_path, fake_engine, limits={"max_connections": 1}) as proxy,
        proxy.connection(),
    ):
        await eventually(lambda: proxy.connections > 0)
        answer = await proxy.say(GET + b"\r\n")

    assert status(answer) == 503
    assert b"\r\nRetry-After: 5\r\n" in answer
    assert proxy.records() == []


async def test_a_connection_that_says_nothing_has_a_time_too(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    limits = {"keepalive": "0s", "header_timeout": "50ms"}
    async with proxied(tmp_path, fake_engine, limits=limits) as proxy:
        answer = await proxy.say(b"")

    assert status(answer) == 408


async def test_a_request_whose_client_left_before_its_turn_is_on_record(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection():
        connection = await opened(proxy)
        connection.data_received(posted(hello()) + b"nonsense\r\n\r\n")
        connection.cut()
        first, second = await proxy.settled(2)

    assert [first.outcome, second.outcome] == ["client_left", "bad_request"]
    assert len(proxy.records("llm.decision")) == 2
    assert fake_engine.calls == []


async def test_a_fault_of_ours_ends_the_connection_and_is_logged_without_its_text(
    tmp_path: Path,
    fake_engine: FakeEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:

        async def broken(_: Any) -> bool:
            raise RuntimeError("the prompt of a client")

        monkeypatch.setattr(proxy.gate.server, "answer", broken)
        answer = await proxy.say(posted(hello()))
    log = capsys.readouterr().out

    assert answer == b""
    assert "connection.broke" in log
    assert "prompt of a client" not in log


async def test_a_body_is_not_read_far_ahead_of_who_asks_for_it(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(after(Stall(), normal({})))
    large = posted(hello(x="x" * 200_000), "Connection: close")
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(posted(hello()))
        call = await fake_engine.call()
        connection = await opened(proxy)
        writer.write(large)
        await eventually(lambda: connection._paused)
        held = [request.size for request in connection.ahead]
        call.resume.set()
        answers = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert len(held) == 1
    assert answers.count(b"HTTP/1.1 200 OK") == 2


async def test_the_rest_of_a_refused_body_is_let_come_and_the_connection_goes_on(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    body = b" " * 300_000
    chunked = CHUNKED.replace(b"application/json", b"text/plain")
    framed = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(chunked)
        refused = await asyncio.wait_for(reader.readuntil(b"}}"), PATIENCE)
        writer.write(framed + posted(hello(), "Connection: close"))
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert status(refused) == 415
    assert answer.startswith(b"HTTP/1.1 200 OK")


async def test_a_body_that_does_not_end_holds_the_connection_for_a_while_only(
    tmp_path: Path, fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LINGER", 0.05)
    request = CHUNKED.replace(b"application/json", b"text/plain") + b"5\r\nabc"
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(request)

    assert status(answer) == 415


async def test_a_client_may_read_why_it_was_no_http_before_it_stops_sending(
    tmp_path: Path, fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server half-closes and waits, for a reset would take the answer from the client."""
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(b"nonsense\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)
        writer.write(b"x" * 100_000)
        await writer.drain()
        open_still = proxy.connections

    assert status(answer) == 400
    assert open_still == 1


async def test_a_client_that_goes_on_sending_no_http_is_cut_off(
    tmp_path: Path, fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LINGER", 0.05)
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (_, writer):
        writer.write(b"nonsense\r\n\r\n")
        await proxy.settled()
        await eventually(lambda: proxy.connections == 0)


async def test_an_idle_connection_gets_its_time_anew_with_each_request(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        connection = await opened(proxy)
        await eventually(lambda: connection._idle_timer is not None)
        first = connection._idle_until
        writer.write(posted(hello()))
        await asyncio.wait_for(reader.readuntil(b"}}"), PATIENCE)
        await eventually(lambda: connection.current is None)
        connection._idle()  # as if the first period were over
        still = proxy.connections

    assert connection._idle_until > first
    assert still == 1


async def test_a_timer_of_an_idle_connection_does_nothing_to_one_at_work(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(after(Stall(), normal({})))
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(posted(hello(), "Connection: close"))
        call = await fake_engine.call()
        connection = await opened(proxy)
        connection._idle_until = 0.0
        connection._idle()
        call.resume.set()
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert answer.startswith(b"HTTP/1.1 200 ")
