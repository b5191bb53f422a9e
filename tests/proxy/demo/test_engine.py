import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai
import pytest

from tidegate.proxy.demo.engine import MODEL, DemoEngine

LONG = [{"role": "user", "content": "tell me a long story"}]
HELLO = [{"role": "user", "content": "Hello"}]


@asynccontextmanager
async def engine_up(**options: Any) -> AsyncIterator[DemoEngine]:
    engine = DemoEngine("engine-a", **options)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.kill()


@asynccontextmanager
async def sdk(engine: DemoEngine) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=f"{engine.url}/v1", api_key="unused", max_retries=0
    ) as client:
        yield client


@asynccontextmanager
async def http(engine: DemoEngine) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(engine.url) as session:
        yield session


def with_sdk(act: Callable[[DemoEngine, openai.AsyncOpenAI], Awaitable[None]]) -> None:
    async def run() -> None:
        async with engine_up() as engine, sdk(engine) as client:
            await act(engine, client)

    asyncio.run(run())


def with_http(act: Callable[[DemoEngine, aiohttp.ClientSession], Awaitable[None]]) -> None:
    async def run() -> None:
        async with engine_up() as engine, http(engine) as session:
            await act(engine, session)

    asyncio.run(run())


def test_the_official_client_gets_a_chat_answer() -> None:
    async def act(_engine: DemoEngine, client: openai.AsyncOpenAI) -> None:
        answer = await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "Hello"}]
        )

        assert "“Hello”" in (answer.choices[0].message.content or "")
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage is not None
        assert answer.usage.total_tokens > 1
        assert answer.system_fingerprint == "engine-a"

    with_sdk(act)


def test_the_official_client_reads_a_chat_stream_with_usage() -> None:
    async def act(_engine: DemoEngine, client: openai.AsyncOpenAI) -> None:
        stream = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "Hello"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)

        assert chunks[0].choices[0].delta.role == "assistant"
        assert "“Hello”" in text
        assert chunks[-2].choices[0].finish_reason == "stop"
        assert chunks[-1].usage is not None

    with_sdk(act)


def test_the_official_client_gets_completions_streaming_and_not() -> None:
    async def act(_engine: DemoEngine, client: openai.AsyncOpenAI) -> None:
        whole = await client.completions.create(model=MODEL, prompt="Hello")
        stream = await client.completions.create(model=MODEL, prompt="Hello", stream=True)
        text = "".join([chunk.choices[0].text async for chunk in stream])

        assert whole.choices[0].text == text

    with_sdk(act)


def test_the_official_client_gets_embeddings_and_models() -> None:
    async def act(_engine: DemoEngine, client: openai.AsyncOpenAI) -> None:
        vectors = await client.embeddings.create(model=MODEL, input=["a", "b"])
        listed = [model.id async for model in client.models.list()]

        assert [len(entry.embedding) for entry in vectors.data] == [8, 8]
        assert listed == [MODEL]

    with_sdk(act)


def test_another_model_is_not_found() -> None:
    async def act(_engine: DemoEngine, client: openai.AsyncOpenAI) -> None:
        with pytest.raises(openai.NotFoundError) as caught:
            await client.embeddings.create(model="other", input="a")

        assert caught.value.code == "model_not_found"

    with_sdk(act)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", b"{"),
        ("/v1/chat/completions", b"[]"),
        ("/v1/chat/completions", b'{"model":"demo-model"}'),
        ("/v1/embeddings", b'{"model":"demo-model"}'),
    ],
)
def test_a_wrong_body_is_a_bad_request(path: str, body: bytes) -> None:
    async def act(_engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        async with session.post(path, data=body) as response:
            told = await response.json()

        assert response.status == 400
        assert told["error"]["type"] == "invalid_request_error"

    with_http(act)


def test_an_unknown_path_is_not_found() -> None:
    async def act(_engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        async with session.get("/v2/none") as response:
            assert response.status == 404
            assert "no such path" in (await response.json())["error"]["message"]

    with_http(act)


def test_it_is_healthy() -> None:
    async def act(_engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        async with session.get("/health") as response:
            assert response.status == 200

    with_http(act)


def test_it_keeps_the_last_requests_as_they_came() -> None:
    async def act(engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        for number in range(40):
            body = {"model": MODEL, "input": str(number)}
            headers = {"traceparent": f"tp-{number}"}
            async with session.post("/v1/embeddings", json=body, headers=headers) as response:
                assert response.status == 200

        assert len(engine.seen) == 32
        assert engine.seen[-1].body == {"model": MODEL, "input": "39"}
        assert engine.seen[-1].traceparent == "tp-39"

    with_http(act)


def test_its_metrics_count_what_it_did() -> None:
    async def act(_engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        body = {"model": MODEL, "messages": HELLO, "max_tokens": 2}
        async with session.post("/v1/chat/completions", json=body) as response:
            assert response.status == 200
        async with session.get("/metrics") as response:
            page = await response.text()

        assert 'vllm:num_requests_running{model_name="demo-model"} 0.0' in page
        assert 'vllm:generation_tokens_total{model_name="demo-model"} 2.0' in page
        assert (
            'vllm:request_success_total{model_name="demo-model",finished_reason="length"} 1.0'
            in page
        )

    with_http(act)


@pytest.mark.parametrize("stream", [True, False])
def test_it_stops_when_its_client_goes(stream: bool) -> None:  # noqa: FBT001 -- a test's parameter
    async def act(engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        body = {"model": MODEL, "messages": LONG, "stream": stream}
        asking = asyncio.ensure_future(session.post("/v1/chat/completions", json=body))
        await engine.until(lambda: engine.running == 1)
        if stream:
            (await asking).close()
        else:
            asking.cancel()
        await engine.until(lambda: engine.running == 0)

        assert engine.broken_off == 1
        assert engine.broken_off_ns > 0
        assert engine.tokens_sent < 2000

    with_http(act)


def test_what_has_no_slot_waits() -> None:
    async def run() -> None:
        async with engine_up(slots=1) as engine, http(engine) as session:
            body = {"model": MODEL, "messages": LONG}
            first = asyncio.ensure_future(session.post("/v1/chat/completions", json=body))
            second = asyncio.ensure_future(session.post("/v1/chat/completions", json=body))
            await engine.until(lambda: engine.waiting == 1)
            page = engine.metrics()
            first.cancel()
            second.cancel()
            await engine.until(lambda: engine.running == engine.waiting == 0)

            assert 'vllm:num_requests_waiting{model_name="demo-model"} 1.0' in page

    asyncio.run(run())


def test_killed_it_resets_its_clients_and_refuses_new_ones_until_started_again() -> None:
    async def act(engine: DemoEngine, session: aiohttp.ClientSession) -> None:
        body = {"model": MODEL, "messages": LONG}
        asking = asyncio.ensure_future(session.post("/v1/chat/completions", json=body))
        await engine.until(lambda: engine.running == 1)
        port = engine.port
        await engine.kill()
        await engine.kill()
        with pytest.raises(aiohttp.ClientConnectionError):
            await asking
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get("/health")
        await engine.start()
        async with session.get("/health") as response:
            assert response.status == 200

        assert engine.port == port
        assert engine.running == 0

    with_http(act)


def test_a_taken_port_is_an_error() -> None:
    async def run() -> None:
        async with engine_up() as engine:
            second = DemoEngine("engine-b", port=engine.port)
            with pytest.raises(OSError, match="address"):
                await second.start()

    asyncio.run(run())


def test_stopped_it_can_be_stopped_again() -> None:
    async def run() -> None:
        async with engine_up() as engine:
            await engine.stop()
            await engine.stop()

            assert engine.running == 0

    asyncio.run(run())
