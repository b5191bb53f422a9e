"""A client that leaves stops its engine, in every phase of an answer."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.answers import Stall, after, json_answer, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import chat_body, frame, role, says
from tests.gates import PATIENCE, eventually, hello, posted, proxied

AT_ONCE = 2.0
"""Seconds: twenty times what is promised, so that a busy machine is no failure."""

NOT_STREAMING = after(Stall(), json_answer(chat_body()))
NO_HEAD = after(Stall(), stream())
NO_TOKEN = stream(frame(role()), Stall())
MIDWAY = stream(frame(role()), frame(says("Hello")), Stall())


@pytest.mark.parametrize(
    ("answer", "streams"),
    [(NOT_STREAMING, False), (NO_HEAD, True), (NO_TOKEN, True)],
    ids=["not streaming", "streaming, no head yet", "streaming, no token yet"],
)
async def test_a_client_that_leaves_before_the_first_byte_stops_the_engine(
    tmp_path: Path, fake_engine: FakeEngine, answer: tuple[Stall, ...], *, streams: bool
) -> None:
    loop = asyncio.get_running_loop()
    fake_engine.then(answer)
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.connection() as (_, writer):
            writer.write(posted(hello(stream=streams)))
            call = await fake_engine.call()
            await asyncio.wait_for(call.stalled.wait(), PATIENCE)
            start = loop.time()
        await asyncio.wait_for(call.gone.wait(), PATIENCE)
        took = loop.time() - start
        [told] = await proxy.settled()

        assert proxy.engines["a"].inflight == 0
    [closing] = proxy.closings

    assert took < AT_ONCE
    assert not call.answered.is_set()
    assert (told.status, told.outcome) == (499, "client_left")
    assert (closing["st"], closing["why"], closing["code"]) == ("aborted", "client_left", 499)
    assert [attempt.error for attempt in told.attempts] == ["client_left"]


async def test_a_client_that_leaves_in_the_middle_stops_the_engine(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    loop = asyncio.get_running_loop()
    fake_engine.then(MIDWAY)
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello(stream=True)))
            await asyncio.wait_for(reader.readuntil(b"Hello"), PATIENCE)
            call = await fake_engine.call()
            start = loop.time()
        await asyncio.wait_for(call.gone.wait(), PATIENCE)
        took = loop.time() - start
        [told] = await proxy.settled()
    [closing] = proxy.closings

    assert took < AT_ONCE
    assert (told.status, told.outcome) == (200, "client_left")
    assert (closing["st"], closing["why"], closing["code"]) == ("aborted", "client_left", 200)
    assert closing["out"] == {"len": 5}


async def test_a_client_that_resets_its_connection_stops_the_engine(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(MIDWAY)
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello(stream=True)))
            await asyncio.wait_for(reader.readuntil(b"Hello"), PATIENCE)
            call = await fake_engine.call()
            writer.transport.abort()
        await asyncio.wait_for(call.gone.wait(), PATIENCE)
        [told] = await proxy.settled()

    assert told.outcome == "client_left"


async def test_a_client_that_leaves_while_it_sends_is_on_record_and_no_engine_asked(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.connection() as (_, writer):
            writer.write(posted(hello())[:-10])
            await eventually(lambda: proxy.connections == 1)
            await asyncio.wait_for(writer.drain(), PATIENCE)
            writer.write(b"x")
            await writer.drain()
        [told] = await proxy.settled()
    [opening] = proxy.openings

    assert fake_engine.calls == []
    assert told.outcome == "client_left"
    assert opening["req"]["path"] == "/v1/chat/completions"


async def test_many_clients_that_leave_at_any_moment_leave_nothing_behind(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    """Each leaves after another number of turns of the loop: before, in, after its answer."""
    count = 60

    async with proxied(tmp_path, fake_engine) as proxy:

        async def leave(turns: int) -> None:
            async with proxy.connection() as (_, writer):
                writer.write(posted(hello(stream=bool(turns % 2))))
                for _ in range(turns):
                    await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            for turns in range(count):
                group.create_task(leave(turns))
        await eventually(lambda: proxy.connections == 0)
    records = proxy.records()

    assert len(records) % 2 == 0
    assert {record["st"] for record in proxy.closings} <= {"aborted", "complete"}
