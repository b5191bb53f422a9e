import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from types import SimpleNamespace
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
    until_close,
)
from tests.fakes.engine import FakeEngine
from tests.gates import PATIENCE, eventually
from tests.proxy.engines.engines import engine
from tests.receivers import free_port

from tidegate.proxy.engines import upstream as subject
from tidegate.proxy.engines.upstream import EngineAnswer, Patience, Upstream
from tidegate.proxy.engines.watch import Watch
from tidegate.proxy.errors import EngineFailed

PATH = "/v1/chat/completions"


@pytest_asyncio.fixture
async def upstream() -> AsyncIterator[Upstream]:
    made = Upstream(Patience(connect=5.0, first_byte=0.2, stall=0.2))
    yield made
    made.close()


async def read(upstream: Upstream, fake: FakeEngine, answer: Answer | None = None) -> bytes:
    if answer is not None:
        fake.then(answer)
    async with upstream.ask(engine(url=fake.url), PATH, b"{}", []) as got:
        return await got.read()


async def following(answer: EngineAnswer) -> bytes:
    """The next piece of the body, b"" at its end."""
    pieces: list[bytes] = []

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        return False

    await answer.pump(take)
    return b"".join(pieces)


async def test_the_request_is_what_was_given_and_the_engines_own_headers(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    made = engine(url=f"{fake_engine.url}/base/", headers=(("Authorization", "Bearer own"),))
    async with upstream.ask(made, PATH, b'{"a":1}', [("X-A", "b")]) as answer:
        await answer.read()
    [call] = fake_engine.calls

    assert (
        call.raw
        == (
            f"POST /base{PATH} HTTP/1.1\r\nHost: 127.0.0.1:{fake_engine.port}\r\nX-A: b\r\n"
            'Authorization: Bearer own\r\nContent-Length: 7\r\n\r\n{"a":1}'
        ).encode()
    )


async def test_the_head_is_read_before_the_body(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    headers = [("Content-Type", "Text/Event-Stream; charset=utf-8"), ("Retry-After", "7")]
    fake_engine.then((Send(head(429, [*headers, ("Content-Length", "2")])), Stall(), Send(b"ok")))
    async with upstream.ask(engine(url=fake_engine.url), PATH, b"", []) as answer:
        facts = answer.status, answer.content_type, answer.retry_after, answer.complete
        fake_engine.calls[0].resume.set()
        body = await answer.read()
        complete = answer.complete

    assert facts == (429, "text/event-stream", "7", False)
    assert (body, complete) == (b"ok", True)


async def test_a_body_comes_in_pieces_and_then_nothing(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    fake_engine.then(stream(b"one", Pause(), b"two"))
    pieces = []
    async with upstream.ask(engine(url=fake_engine.url), PATH, b"", []) as answer:
        while piece := await following(answer):
            pieces.append(piece)
        again = await following(answer)

    assert b"".join(pieces) == b"onetwo"
    assert again == b""


async def test_a_body_may_end_with_its_connection(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    assert await read(upstream, fake_engine, until_close(b"one", Pause(), b"two")) == b"onetwo"


async def test_a_connection_whose_answer_was_read_is_used_again(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    for _ in range(3):
        await read(upstream, fake_engine)

    assert {call.connection for call in fake_engine.calls} == {0}


async def test_leaving_early_tells_the_engine_to_stop(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    fake_engine.then(stream(b"one", Stall(), b"two"))
    async with upstream.ask(engine(url=fake_engine.url), PATH, b"", []) as answer:
        await following(answer)
    await asyncio.wait_for(fake_engine.calls[0].gone.wait(), PATIENCE)
    await read(upstream, fake_engine)

    assert {call.connection for call in fake_engine.calls} == {0, 1}


async def test_a_cancelled_wait_for_the_head_tells_the_engine_to_stop(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    fake_engine.then((Stall(),))
    task = asyncio.ensure_future(read(upstream, fake_engine))
    call = await fake_engine.call()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.wait_for(call.gone.wait(), PATIENCE)

    assert task.cancelled()


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        ((Close(),), "reset", 502),
        ((Reset(),), "reset", 502),
        ((Send(b"nonsense\r\n\r\n"),), "reset", 502),
        (first_bytes(json_answer({"a": 1}), 20, Close()), "reset", 502),
        (first_bytes(json_answer({"a": 1}), 75, Close()), "truncated", 502),
        (stream(b"one", Pause(), end=(Close(),)), "truncated", 502),
        ((Stall(),), "stall", 504),
        (first_bytes(json_answer({"a": 1}), 75, Stall()), "stall", 504),
        (stream(b"one", Pause(), Stall()), "stall", 504),
        (until_close(b"one", Stall()), "stall", 504),
        ((Send(b"HTTP/1.1 103 Early Hints\r\n\r\n"), Stall()), "stall", 504),
    ],
)
async def test_each_way_to_fail_has_its_name(
    fake_engine: FakeEngine, upstream: Upstream, answer: Answer, code: str, status: int
) -> None:
    with pytest.raises(EngineFailed) as caught:
        await read(upstream, fake_engine, answer)

    assert (caught.value.code, caught.value.status) == (code, status)


async def test_an_engine_that_is_not_there_cannot_be_reached(upstream: Upstream) -> None:
    nowhere = engine(url=f"http://127.0.0.1:{free_port()}")
    with pytest.raises(EngineFailed) as caught:
        async with upstream.ask(nowhere, PATH, b"", []):
            pass

    assert caught.value.code == "connect"


async def test_time_that_we_take_ourselves_is_not_the_engines(
    fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client may read slowly: only waiting for the engine counts."""
    upstream = Upstream(Patience(connect=5.0, first_byte=0.05, stall=0.05))
    looks: list[Any] = []
    look = Watch._look

    def seen(watch: Watch) -> None:
        look(watch)
        looks.append(watch.fired)

    monkeypatch.setattr(Watch, "_look", seen)
    fake_engine.then(stream(b"one", Stall(), b"two"))
    async with upstream.ask(engine(url=fake_engine.url), PATH, b"", []) as answer:
        await following(answer)
        await eventually(lambda: len(looks) >= 3)
        fake_engine.calls[0].resume.set()
        body = await answer.read()
    upstream.close()

    assert body == b"two"
    assert not any(looks)


async def test_a_stall_is_noticed_in_its_time_though_the_first_byte_may_take_longer(
    fake_engine: FakeEngine,
) -> None:
    upstream = Upstream(Patience(connect=5.0, first_byte=3600.0, stall=0.05))
    with pytest.raises(EngineFailed) as caught:
        await asyncio.wait_for(read(upstream, fake_engine, stream(b"one", Stall())), PATIENCE)
    upstream.close()

    assert caught.value.code == "stall"


async def test_a_kept_connection_is_watched_anew(fake_engine: FakeEngine) -> None:
    upstream = Upstream(Patience(connect=5.0, first_byte=0.1, stall=0.1))
    await read(upstream, fake_engine, json_answer({"a": 1}))
    with pytest.raises(EngineFailed) as caught:
        await read(upstream, fake_engine, (Stall(),))
    upstream.close()

    assert caught.value.code == "stall"


async def test_an_answer_that_is_too_long_is_given_up(
    fake_engine: FakeEngine, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "MOST_ANSWER", 10)
    with pytest.raises(EngineFailed) as caught:
        await read(upstream, fake_engine, json_answer({"a": "too long"}))

    assert caught.value.code == "bad_answer"
    assert await read(upstream, fake_engine, json_answer(b"123456789")) == b"123456789"


class Body:
    """A connection whose answer comes as a test wants it."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)
        self.heard: Any = None
        self.status = 200
        self.headers: dict[bytes, bytes] = {}
        self.broken = self.complete = False

    @property
    def waiting(self) -> bool:
        return bool(self.pieces)

    def take(self) -> bytes:
        data = b"".join(self.pieces)
        self.pieces.clear()
        return data

    def come(self, *pieces: bytes) -> None:
        self.pieces += pieces
        if self.heard is not None:
            self.heard()


def pumped(body: Body) -> tuple[EngineAnswer, Any]:
    connection: Any = body
    watch: Any = SimpleNamespace(
        waiting=lambda: None, heard=lambda _: None, went_on=lambda _: None, fired=False
    )
    return EngineAnswer(connection, watch, 1.0), watch


async def test_pieces_are_handed_over_once_and_in_order() -> None:
    body = Body(b"a")
    answer, _ = pumped(body)
    taken: list[bytes] = []

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return True

    pump = asyncio.ensure_future(answer.pump(take))
    await asyncio.sleep(0)
    body.come(b"b")
    body.come(b"c", b"d")
    body.complete = True
    body.come(b"e")
    await pump

    assert taken == [b"a", b"b", b"cd", b"e"]
    assert body.heard is None


async def test_what_comes_after_a_no_waits_for_the_next_pump() -> None:
    body = Body(b"a")
    answer, _ = pumped(body)
    taken: list[bytes] = []

    def once(piece: bytes) -> bool:
        taken.append(piece)
        return False

    await answer.pump(once)
    body.come(b"b")
    first = list(taken)
    await answer.pump(once)

    assert (first, taken) == ([b"a"], [b"a", b"b"])


@pytest.mark.parametrize("early", [True, False])
async def test_an_error_of_the_taker_is_raised_where_the_pump_is_awaited(*, early: bool) -> None:
    body = Body(*[b"a"] if early else [])
    answer, _ = pumped(body)

    def broken(_: bytes) -> bool:
        raise ConnectionResetError

    pump = asyncio.ensure_future(answer.pump(broken))
    await asyncio.sleep(0)
    if not early:
        body.come(b"a")
    with pytest.raises(ConnectionResetError):
        await pump
    assert body.heard is None


async def test_a_taker_whose_client_left_ends_the_wait() -> None:
    body = Body()
    answer, _ = pumped(body)

    def left(_: bytes) -> bool:
        pump.cancel()
        return False

    pump = asyncio.ensure_future(answer.pump(left))
    await asyncio.sleep(0)
    body.come(b"a")
    await asyncio.gather(pump, return_exceptions=True)

    assert pump.cancelled()


@pytest.mark.parametrize(("fired", "code"), [(False, "truncated"), (True, "stall")])
async def test_a_pumped_body_that_breaks_off_is_named(code: str, *, fired: bool) -> None:
    body = Body(b"a")
    answer, watch = pumped(body)
    pump = asyncio.ensure_future(answer.pump(lambda _: True))
    await asyncio.sleep(0)
    watch.fired = fired
    body.broken = True
    body.come()
    with pytest.raises(EngineFailed) as caught:
        await pump

    assert caught.value.code == code


@pytest.mark.parametrize("wbits", [31, 15])
async def test_a_compressed_stream_is_unpacked_as_it_comes(wbits: int) -> None:
    packer = zlib.compressobj(wbits=wbits)
    body = Body()
    body.headers[b"content-encoding"] = b"gzip" if wbits > 15 else b"Deflate"
    answer, _ = pumped(body)
    taken: list[bytes] = []

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return True

    pump = asyncio.ensure_future(answer.pump(take))
    await asyncio.sleep(0)
    for piece in (b"one", b"two"):
        body.come(packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH))
    body.complete = True
    body.come(packer.flush())
    await pump

    assert taken == [b"one", b"two"]


@pytest.mark.parametrize(
    ("coding", "data", "code"),
    [
        ("br", b"x", "bad_answer"),
        ("gzip", b"plain", "bad_answer"),
        ("gzip", gzip.compress(b"a" * 200), "bad_answer"),
        ("gzip", gzip.compress(b"a")[:-4], "truncated"),
        ("gzip", gzip.compress(b"a") + gzip.compress(b"b"), "bad_answer"),
    ],
)
async def test_compression_that_cannot_be_undone_is_named(
    fake_engine: FakeEngine,
    upstream: Upstream,
    monkeypatch: pytest.MonkeyPatch,
    coding: str,
    data: bytes,
    code: str,
) -> None:
    monkeypatch.setattr(subject, "MOST_ANSWER", 100)
    answer = json_answer(data, headers=[("Content-Encoding", coding)])
    with pytest.raises(EngineFailed) as caught:
        await read(upstream, fake_engine, answer)

    assert caught.value.code == code


async def test_what_was_read_ahead_is_pumped_whole(
    fake_engine: FakeEngine, upstream: Upstream
) -> None:
    pieces = [bytes([letter]) * 50_000 for letter in b"abcdefgh"]
    fake_engine.then(stream(*pieces))
    taken: list[bytes] = []

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return True

    async with upstream.ask(engine(url=fake_engine.url), PATH, b"", []) as answer:
        await eventually(lambda: answer._connection._paused)
        await answer.pump(take)

    assert b"".join(taken) == b"".join(pieces)
