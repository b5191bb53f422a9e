"""Also lists what is used of aiohttp below its public client: an upgrade must keep it."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp.client_proto import ResponseHandler
from tests.fakes.answers import Pause, Send, Stall, head, json_answer, then_close
from tests.fakes.engine import FakeEngine
from tests.gates import PATIENCE, eventually
from tests.proxy.engines.engines import engine
from tests.receivers import free_port

from tidegate.proxy.engines import Engine
from tidegate.proxy.engines.connections import IDLE_SECONDS, Connections, answer_on

GET = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest_asyncio.fixture
async def kept() -> AsyncIterator[Connections]:
    connections = Connections(connect_timeout=5.0)
    yield connections
    connections.close()


def at(fake: FakeEngine) -> Engine:
    return engine(url=fake.url)


async def asked(connection: ResponseHandler) -> tuple[int, bytes]:
    message, body = await asyncio.wait_for(answer_on(connection, GET), PATIENCE)
    return message.code, await body.read()


@pytest.mark.parametrize(
    "name",
    [
        "set_response_params", "read", "should_close", "is_connected", "close", "transport",
    ],
)  # fmt: skip
def test_aiohttps_protocol_has_what_is_used_of_it(name: str) -> None:
    assert hasattr(ResponseHandler, name)


async def test_a_connection_that_is_given_back_is_taken_again(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    first = await kept.take(at(fake_engine))
    await asked(first)
    kept.give(at(fake_engine), first)
    second = await kept.take(at(fake_engine))
    third = await kept.take(at(fake_engine))
    second.close()
    third.close()

    assert second is first
    assert third is not first


async def test_the_youngest_is_taken_first_and_old_ones_are_closed(
    fake_engine: FakeEngine, kept: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    now = loop.time()
    old, young = [await kept.take(at(fake_engine)) for _ in range(2)]
    monkeypatch.setattr(loop, "time", lambda: now)
    kept.give(at(fake_engine), old)
    monkeypatch.setattr(loop, "time", lambda: now + IDLE_SECONDS + 1)
    kept.give(at(fake_engine), young)
    still_open = old.is_connected()
    taken = await kept.take(at(fake_engine))
    monkeypatch.setattr(loop, "time", lambda: now + 3 * IDLE_SECONDS)
    kept.give(at(fake_engine), taken)
    monkeypatch.setattr(loop, "time", lambda: now + 5 * IDLE_SECONDS)
    fresh = await kept.take(at(fake_engine))
    fresh.close()

    assert not still_open
    assert taken is young
    assert fresh is not young
    assert not young.is_connected()


async def test_one_that_the_engine_has_closed_is_not_taken(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    fake_engine.answers = lambda _: then_close(json_answer({}))
    first = await kept.take(at(fake_engine))
    await asked(first)
    kept.give(at(fake_engine), first)
    await eventually(lambda: not first.is_connected())
    second = await kept.take(at(fake_engine))
    second.close()

    assert second is not first


async def test_one_that_says_something_unasked_is_not_taken(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    """Else the next request would get the answer that nobody asked for."""
    stray = json_answer({"stray": True})
    fake_engine.answers = lambda _: (*json_answer({}), Stall(), *stray)
    first = await kept.take(at(fake_engine))
    await asked(first)
    kept.give(at(fake_engine), first)
    request = fake_engine.requests[0]
    request.resume.set()
    await asyncio.wait_for(request.answered.wait(), PATIENCE)
    await eventually(lambda: first.should_close)
    second = await kept.take(at(fake_engine))
    second.close()

    assert second is not first
    assert not first.is_connected()


@pytest.mark.parametrize("way", ["said so", "unread"])
async def test_one_that_cannot_be_used_again_is_closed(
    fake_engine: FakeEngine, kept: Connections, way: str
) -> None:
    unread = (Send(head(200, [("Content-Length", "9")])), Stall())
    closing = json_answer({}, headers=[("Connection", "close")])
    fake_engine.answers = lambda _: closing if way == "said so" else unread
    first = await kept.take(at(fake_engine))
    await answer_on(first, GET)
    kept.give(at(fake_engine), first)

    assert not first.is_connected()


async def test_interim_answers_are_passed_over(fake_engine: FakeEngine, kept: Connections) -> None:
    hints = (Send(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), Pause())
    fake_engine.answers = lambda _: (*hints, *hints, *json_answer({"a": 1}))
    connection = await kept.take(at(fake_engine))
    answer = await asked(connection)
    connection.close()

    assert answer == (200, b'{"a": 1}')


async def test_nothing_is_sent_on_a_connection_that_is_gone(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    connection = await kept.take(at(fake_engine))
    connection.close()

    with pytest.raises(ConnectionResetError):
        await answer_on(connection, GET)


async def test_an_engine_that_is_not_there_is_an_os_error(kept: Connections) -> None:
    with pytest.raises(OSError, match="Connect call failed"):
        await kept.take(engine(url=f"http://127.0.0.1:{free_port()}"))


async def test_a_connection_that_does_not_come_about_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)

    with pytest.raises(TimeoutError):
        await Connections(connect_timeout=0.01).take(engine())


async def test_https_checks_certificates(
    kept: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    async def connect(_: Any, host: str, port: int, **options: Any) -> Any:
        seen.append((host, port, options["ssl"]))
        raise OSError

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", connect)
    with pytest.raises(OSError):  # noqa: PT011 - it has no text
        await kept.take(engine(url="https://engine.example/"))
    [(host, port, context)] = seen

    assert (host, port) == ("engine.example", 443)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


async def test_close_closes_all_that_are_kept(fake_engine: FakeEngine, kept: Connections) -> None:
    connection = await kept.take(at(fake_engine))
    kept.give(at(fake_engine), connection)
    kept.close()

    assert not connection.is_connected()
