import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web

from tidegate.proxy.demo.client import Client, Told
from tidegate.proxy.demo.engine import DemoEngine
from tidegate.proxy.demo.prose import answer_to

HELLO = [{"role": "user", "content": "Hello"}]


def against_engine(act: Callable[[DemoEngine, Client], Awaitable[None]]) -> None:
    async def run() -> None:
        engine = DemoEngine("engine-a")
        await engine.start()
        try:
            async with aiohttp.ClientSession() as session:
                await act(engine, Client(session, engine.url))
        finally:
            await engine.kill()

    asyncio.run(run())


def against_answer(body: bytes, act: Callable[[Client], Awaitable[None]]) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(
            body=body,
            status=400,
            headers={"x-request-id": "r-1"},
            content_type="application/json",
        )

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            async with aiohttp.ClientSession() as session:
                await act(Client(session, f"http://127.0.0.1:{runner.addresses[0][1]}/"))
        finally:
            await runner.cleanup()

    asyncio.run(run())


def test_a_whole_answer_is_read() -> None:
    async def act(engine: DemoEngine, client: Client) -> None:
        told = await client.chat(HELLO)

        assert told.status == 200
        assert told.text == answer_to("Hello").text
        assert told.finish == "stop"
        assert told.answered_by == "engine-a"
        assert told.first_text_ms > 0
        assert told.gaps_ms == []
        assert engine.seen[-1].traceparent.startswith(f"00-{told.trace_id}-")
        assert client.asked == [told]

    against_engine(act)


def test_a_stream_is_read_with_the_time_of_each_piece() -> None:
    async def act(_engine: DemoEngine, client: Client) -> None:
        told = await client.stream(HELLO)

        assert told.text == answer_to("Hello").text
        assert len(told.gaps_ms) == len(answer_to("Hello").pieces) - 1
        assert told.done

    against_engine(act)


def test_leaving_closes_the_connection_after_so_many_pieces() -> None:
    async def act(engine: DemoEngine, client: Client) -> None:
        told = await client.leave([{"role": "user", "content": "a long story"}], after=2)
        await engine.until(lambda: engine.running == 0)

        assert len(told.text_ns) == 2
        assert told.left_ns > 0
        assert engine.broken_off == 1

    against_engine(act)


def test_a_stream_that_ends_first_is_not_left() -> None:
    async def act(_engine: DemoEngine, client: Client) -> None:
        told = await client.leave(HELLO, after=10_000)

        assert told.done
        assert told.left_ns == 0

    against_engine(act)


def test_a_refusal_of_a_stream_is_read_with_its_code() -> None:
    async def act(client: Client) -> None:
        told = await client.stream(HELLO)

        assert told.status == 400
        assert told.code == "content_filter"
        assert told.message == "no"
        assert told.request_id == "r-1"
        assert told.first_text_ms == 0.0

    against_answer(b'{"error":{"code":"content_filter","message":"no"}}', act)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"error":"no"}', b'{"choices":[1]}', b'{"choices":[{"message":[1]}]}']
)
def test_an_answer_in_another_shape_is_a_value_error(body: bytes) -> None:
    async def act(client: Client) -> None:
        with pytest.raises(ValueError, match=r"shape|document|unexpected"):
            await client.chat(HELLO)

    against_answer(body, act)


def test_told_nothing_there_is_no_time() -> None:
    assert Told(trace_id="", sent_ns=1).first_text_ms == 0.0
