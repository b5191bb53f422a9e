import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.fakes.answers import (
    Answer,
    Close,
    Pause,
    Reset,
    Send,
    Stall,
    first_bytes,
    head,
    json_answer,
    stream,
    then_close,
    until_close,
)
from tests.fakes.engine import FakeEngine
from tests.gates import PATIENCE, eventually
from tests.proxy.engines.engines import engine
from tests.receivers import free_port

from tidegate.proxy.engines import Engine, connections
from tidegate.proxy.engines.connections import IDLE_SECONDS, Connections, EngineConnection

ASK = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"


@pytest_asyncio.fixture
async def kept() -> AsyncIterator[Connections]:
    made = Connections(connect_timeout=5.0)
    yield made
    made.close()


def at(fake: FakeEngine) -> Engine:
    return engine(url=fake.url)


async def asked(connection: EngineConnection) -> tuple[int, bytes]:
    connection.ask(ASK)
    await asyncio.wait_for(connection.head(), PATIENCE)
    await eventually(lambda: connection.complete or connection.broken)
    return connection.status, connection.take()


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
    now = time.monotonic()
    old, young = [await kept.take(at(fake_engine)) for _ in range(2)]
    await asked(old)
    await asked(young)
    monkeypatch.setattr(connections, "monotonic", lambda: now)
    kept.give(at(fake_engine), old)
    monkeypatch.setattr(connections, "monotonic", lambda: now + IDLE_SECONDS + 1)
    kept.give(at(fake_engine), young)
    still_open = old.connected
    taken = await kept.take(at(fake_engine))
    await asked(taken)
    monkeypatch.setattr(connections, "monotonic", lambda: now + 3 * IDLE_SECONDS)
    kept.give(at(fake_engine), taken)
    monkeypatch.setattr(connections, "monotonic", lambda: now + 5 * IDLE_SECONDS)
    fresh = await kept.take(at(fake_engine))
    fresh.close()

    assert not still_open
    assert taken is young
    assert fresh is not young
    assert not young.connected


async def test_one_that_the_engine_has_closed_is_not_taken(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    fake_engine.answers = lambda _: then_close(json_answer({}))
    first = await kept.take(at(fake_engine))
    await asked(first)
    kept.give(at(fake_engine), first)
    await eventually(lambda: not first.connected)
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
    assert not first.connected


@pytest.mark.parametrize("way", ["said so", "unread"])
async def test_one_that_cannot_be_used_again_is_closed(
    fake_engine: FakeEngine, kept: Connections, way: str
) -> None:
    unread = (Send(head(200, [("Content-Length", "9")])), Stall())
    closing = json_answer({}, headers=[("Connection", "close")])
    fake_engine.answers = lambda _: closing if way == "said so" else unread
    first = await kept.take(at(fake_engine))
    first.ask(ASK)
    await asyncio.wait_for(first.head(), PATIENCE)
    if way == "said so":
        await eventually(lambda: first.complete)
    kept.give(at(fake_engine), first)

    assert not first.connected


async def test_interim_answers_are_passed_over(fake_engine: FakeEngine, kept: Connections) -> None:
    hints = (Send(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), Pause())
    fake_engine.answers = lambda _: (*hints, *hints, *json_answer({"a": 1}))
    connection = await kept.take(at(fake_engine))
    answer = await asked(connection)
    connection.close()

    assert answer == (200, b'{"a": 1}')


HEAD = b"HTTP/1.1 200 OK\r\n"
FAULTS: dict[str, Answer] = {
    "no HTTP": (Send(b"nonsense\r\n\r\n"),),
    "a head without end": (Send(HEAD + b"X: " + b"a" * (70 << 10)),),
    "interim answers without end": (Send(b"HTTP/1.1 103 Early\r\nX: 1\r\n\r\n" * 3000),),
    "an upgrade": (Send(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),),
    "a folded header": (Send(HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n"),),
    "two lengths": (Send(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),),
    "length and chunks": (
        Send(HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ),
    "an odd length": (Send(HEAD + b"Content-Length: +1\r\n\r\na"),),
    "a bare line feed": (Send(b"HTTP/1.1 200 OK\nContent-Length: 0\n\n"),),
}


@pytest.mark.parametrize("answer", FAULTS.values(), ids=FAULTS.keys())
async def test_a_head_that_is_no_head_breaks_the_connection(
    fake_engine: FakeEngine, kept: Connections, answer: Answer
) -> None:
    fake_engine.then(answer)
    connection = await kept.take(at(fake_engine))
    connection.ask(ASK)
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(connection.head(), PATIENCE)

    assert connection.should_close
    assert not connection.connected


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (first_bytes(json_answer({"a": 1}), 75, Close()), b'{"a": 1}'),
        (stream(b"one", end=(Close(),)), b"one"),
        (stream(b"one", end=(Send(b"zz\r\n"), Stall())), b"one"),
        (stream(b"one", end=(Send(b"0\r\nX: " + b"x" * (1 << 20)), Stall())), b"one"),
        (stream(b"one", end=(Send(b"2\r\ntwo\r\n"), Stall())), b"onetw"),
        (stream(b"one", headers=[("Transfer-Encoding", "gzip")], end=(Close(),)), b"3\r\none\r\n"),
        ((Send(head(200, [])), Send(b"one"), Pause(), Reset()), b"one"),
    ],
)
async def test_a_body_that_is_not_whole_is_broken(
    fake_engine: FakeEngine, kept: Connections, answer: Answer, body: bytes
) -> None:
    fake_engine.then(answer)
    connection = await kept.take(at(fake_engine))
    got = await asked(connection)

    assert (connection.broken, connection.complete, connection.should_close) == (True, False, True)
    assert body.startswith(got[1])


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ((Send(head(204, [])),), b""),
        ((Send(HEAD + b"Content-Length:  2 \r\n\r\nok"),), b"ok"),
        (stream(b"one", end=(Send(b"0;x=1\r\nTrailer: x\r\n\r\n"),)), b"one"),
        (until_close(b"one", Pause(), b"two"), b"onetwo"),
    ],
)
async def test_every_proper_end_is_one(
    fake_engine: FakeEngine, kept: Connections, answer: Answer, body: bytes
) -> None:
    fake_engine.then(answer)
    connection = await kept.take(at(fake_engine))
    got = await asked(connection)
    connection.close()

    assert (connection.complete, connection.broken) == (True, False)
    assert got[1] == body


async def test_what_follows_an_answer_in_the_same_read_is_not_part_of_it(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    [first] = json_answer({"a": 1})
    [second] = json_answer({"b": 2})
    assert isinstance(first, Send)
    assert isinstance(second, Send)
    fake_engine.then((Send(first.data + second.data),))
    connection = await kept.take(at(fake_engine))
    got = await asked(connection)

    assert got == (200, b'{"a": 1}')
    assert not connection.broken
    assert connection.should_close


async def test_what_is_said_before_anything_was_asked_breaks_the_connection() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    greeted = Connections(connect_timeout=5.0)
    connection = await greeted.take(engine(url=f"http://127.0.0.1:{port}"))
    await eventually(lambda: not connection.connected)
    server.close()
    await server.wait_closed()

    with pytest.raises(ConnectionResetError):
        connection.ask(ASK)


async def test_an_engine_is_not_read_far_ahead_of_its_client(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    pieces = [bytes([letter]) * 50_000 for letter in b"abcdefgh"]
    fake_engine.then(stream(*pieces))
    connection = await kept.take(at(fake_engine))
    connection.ask(ASK)
    await connection.head()
    transport = connection.transport
    assert transport is not None
    await eventually(lambda: not transport.is_reading())
    came = connection.take()
    reads_on = transport.is_reading()
    while not connection.complete:
        await asyncio.sleep(0)
        came += connection.take()
    came += connection.take()
    connection.close()

    assert reads_on
    assert came == b"".join(pieces)


async def test_nothing_is_sent_on_a_connection_that_is_gone(
    fake_engine: FakeEngine, kept: Connections
) -> None:
    connection = await kept.take(at(fake_engine))
    connection.close()

    with pytest.raises(ConnectionResetError):
        connection.ask(ASK)


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

    assert not connection.connected
