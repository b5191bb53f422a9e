"""The fake engine does to a plain socket what its answers say."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from tests.fakes.answers import Pause, Reset, Send, Stall, json_answer, stream, then_close
from tests.fakes.engine import FakeEngine, Received, parse
from tests.fakes.events import DONE, frame, says
from tests.fakes.scenarios import SCENARIOS

LIMIT = 5.0
"""Seconds after which a test is stuck; none of them waits for it."""
ENDLESS = {name for name in SCENARIOS if name.startswith("stall")}


class Client:
    """A bare HTTP client: sends bytes and reads until the other side is done."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, body: object = None, *, target: str = "/v1/chat/completions") -> None:
        data = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
        self.writer.write(head.encode() + data)

    async def until(self, mark: bytes) -> bytes:
        return await asyncio.wait_for(self.reader.readuntil(mark), LIMIT)

    async def rest(self) -> bytes:
        return await asyncio.wait_for(self.reader.read(), LIMIT)

    async def whole(self) -> tuple[bytes, bytes]:
        """The head and body of an answer that states its length."""
        head = await self.until(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        return head, await self.reader.readexactly(length)


@asynccontextmanager
async def client_of(engine: FakeEngine) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):  # an engine that resets is what some tests ask for
            await writer.wait_closed()


async def test_answers_json_and_records_the_request(fake_engine: FakeEngine) -> None:
    async with client_of(fake_engine) as client:
        client.send({"model": "m", "messages": []})
        head, body = await client.whole()
    call = await fake_engine.call()

    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(body)["choices"][0]["message"]["content"] == "Hello there."
    assert (call.method, call.target) == ("POST", "/v1/chat/completions")
    assert call.json == {"model": "m", "messages": []}
    assert call.header("HOST") == "x"
    assert call.header("absent") is None
    assert call.raw.endswith(call.body)


async def test_streams_with_usage_only_if_asked(fake_engine: FakeEngine) -> None:
    async with client_of(fake_engine) as client:
        client.send({"stream": True})
        without = await client.until(b"0\r\n\r\n")
        client.send({"stream": True, "stream_options": {"include_usage": True}})
        with_usage = await client.until(b"0\r\n\r\n")

    assert DONE in without
    assert b'"usage"' not in without
    assert b'"usage"' in with_usage


@pytest.mark.parametrize(
    ("target", "mark"),
    [
        ("/health", b'"ok"'),
        ("/v1/models", b'"fake"'),
        ("/api/version", b'"0.0.0"'),
        ("/metrics", b"num_requests_running"),
        ("/nowhere", b"Not Found"),
    ],
)
async def test_answers_the_pages_of_an_engine(
    fake_engine: FakeEngine, target: str, mark: bytes
) -> None:
    async with client_of(fake_engine) as client:
        client.send(target=target)
        _, body = await client.whole()

    assert mark in body
    assert fake_engine.calls == []


async def test_an_engine_that_is_loading_says_503(fake_engine: FakeEngine) -> None:
    fake_engine.healthy = False
    async with client_of(fake_engine) as client:
        client.send(target="/health")
        head, _ = await client.whole()

    assert head.startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize("streamed", [False, True])
async def test_completions_speak_their_own_format(
    fake_engine: FakeEngine, *, streamed: bool
) -> None:
    async with client_of(fake_engine) as client:
        client.send({"stream": streamed}, target="/v1/completions")
        data = await (client.until(b"[DONE]") if streamed else client.until(b"}}"))

    assert b"text_completion" in data


@pytest.mark.parametrize(("inputs", "count"), [("a", 1), (["a", "b"], 2)])
async def test_embeddings_are_one_vector_an_input(
    fake_engine: FakeEngine, inputs: object, count: int
) -> None:
    async with client_of(fake_engine) as client:
        client.send({"input": inputs}, target="/v1/embeddings")
        _, body = await client.whole()

    assert count == len(json.loads(body)["data"])


@pytest.mark.parametrize("name", sorted(SCENARIOS))
async def test_the_model_name_picks_the_scenario(fake_engine: FakeEngine, name: str) -> None:
    async with client_of(fake_engine) as client:
        client.send({"model": f"fake-{name}", "stream": True})
        call = await fake_engine.call()
        if name in ENDLESS:
            await asyncio.wait_for(call.stalled.wait(), LIMIT)
            call.resume.set()
        # Read along, as a client does, or the largest answers would fill the socket and wait.
        reading = asyncio.ensure_future(client.reader.read())
        await asyncio.wait_for(call.answered.wait(), LIMIT)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    assert f"fake-{name}" == call.json["model"]


async def test_queued_answers_come_first_and_in_order(fake_engine: FakeEngine) -> None:
    fake_engine.answers = lambda request: json_answer({"rule": request.target})
    fake_engine.then(json_answer({"n": 1}), json_answer({"n": 2}))
    bodies = []
    async with client_of(fake_engine) as client:
        for _ in range(3):
            client.send({})
            bodies.append(json.loads((await client.whole())[1]))

    assert bodies == [{"n": 1}, {"n": 2}, {"rule": "/v1/chat/completions"}]


async def test_a_rule_may_leave_the_answer_to_the_engine() -> None:
    def rule(_: Received) -> None:
        return None

    async with FakeEngine(rule) as engine, client_of(engine) as client:
        client.send({})
        head, _ = await client.whole()

    assert b" 200 " in head


async def test_gone_is_set_when_the_client_leaves_during_a_stall(fake_engine: FakeEngine) -> None:
    async with client_of(fake_engine) as client:
        client.send({"model": "fake-stall-before-headers"})
        call = await fake_engine.call()
        assert not call.gone.is_set()
    await asyncio.wait_for(call.gone.wait(), LIMIT)

    assert not call.answered.is_set()
    assert fake_engine.open_connections == 0


async def test_a_stall_ends_when_the_test_says_so(fake_engine: FakeEngine) -> None:
    fake_engine.then(stream(b"a", Stall(), b"b"))
    async with client_of(fake_engine) as client:
        client.send({})
        call = await fake_engine.call()
        before = await client.until(b"a\r\n")
        call.resume.set()
        after = await client.until(b"0\r\n\r\n")

    assert before.endswith(b"1\r\na\r\n")
    assert after == b"1\r\nb\r\n0\r\n\r\n"


async def test_reset_is_seen_as_a_reset(fake_engine: FakeEngine) -> None:
    fake_engine.then(stream(frame(says("a")), Pause(), end=(Reset(),)))
    async with client_of(fake_engine) as client:
        client.send({})
        with pytest.raises(ConnectionResetError):
            await client.rest()


async def test_closing_between_requests_ends_the_connection_only(fake_engine: FakeEngine) -> None:
    fake_engine.then(then_close(json_answer({})))
    async with client_of(fake_engine) as client:
        client.send({})
        answer = await client.rest()
    async with client_of(fake_engine) as client:
        client.send({})
        await client.whole()

    assert answer.endswith(b"{}")
    assert [call.connection for call in fake_engine.calls] == [0, 1]


async def test_pipelined_requests_are_answered_in_turn(fake_engine: FakeEngine) -> None:
    fake_engine.then(json_answer({"n": 1}), json_answer({"n": 2}))
    async with client_of(fake_engine) as client:
        client.send({})
        client.send({})
        bodies = [(await client.whole())[1], (await client.whole())[1]]

    assert bodies == [b'{"n": 1}', b'{"n": 2}']


async def test_an_engine_comes_back_on_its_old_port(fake_engine: FakeEngine) -> None:
    port = fake_engine.port
    await fake_engine.stop()
    await fake_engine.stop()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    await fake_engine.start()

    assert port == fake_engine.port


async def test_stopping_resets_the_open_connections(fake_engine: FakeEngine) -> None:
    async with client_of(fake_engine) as client:
        client.send({"model": "fake-stall-mid-stream"})
        await (await fake_engine.call()).stalled.wait()
        await client.until(b"Hello")
        await fake_engine.stop()
        with pytest.raises(ConnectionResetError):
            await client.rest()


async def test_a_slow_reader_makes_the_engine_wait(fake_engine: FakeEngine) -> None:
    fake_engine.then((Send(b"x" * (8 << 20)), Stall()))
    async with client_of(fake_engine) as client:
        client.send({})
        call = await fake_engine.call()
        first = await client.reader.read(1)
        waiting = not call.stalled.is_set()
        await client.reader.readexactly((8 << 20) - 1)
        await asyncio.wait_for(call.stalled.wait(), LIMIT)

    assert first == b"x"
    assert waiting


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
    ],
)
def test_an_incomplete_request_is_none(data: bytes) -> None:
    assert parse(data) is None


def test_a_chunked_request_is_joined() -> None:
    head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    data = head + b"2;x=y\r\n{}\r\n1\r\n \r\n0\r\n\r\n"
    request = parse(data + b"GET")

    assert request is not None
    assert request.body == b"{} "
    assert data == request.raw
    assert request.json == {}


def test_a_body_that_is_not_json_reads_as_none() -> None:
    request = parse(b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n{")

    assert request is not None
    assert request.json is None
