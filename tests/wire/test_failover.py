"""Another engine answers as long as the client has not got a byte; never after."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.answers import Reset, Stall, after, apart, json_answer, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import chat_body, frame, role, says
from tests.fakes.scenarios import SCENARIOS, normal
from tests.gates import PATIENCE, Proxy, eventually, hello, proxied
from tests.receivers import free_port

BUSY = SCENARIOS["busy-503"]()


def pool(*engines: str, **more: Any) -> dict[str, Any]:
    return {"main": {"engines": list(engines), **more}}


async def test_an_engine_that_refuses_connections_is_passed_over(tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    pools = pool("a", "b", health={"interval": "1h", "unhealthy_after": 100})
    async with FakeEngine() as alive, proxied(tmp_path, dead, alive, pools=pools) as proxy:
        await eventually(lambda: proxy.engines["a"].probed is not None)
        proxy.engines["a"].probed = True  # the probe has not seen it yet
        status, body = await proxy.ask(hello())
        [told] = await proxy.settled()

    assert (status, body) == (200, chat_body())
    assert [(a.engine, a.error, a.status) for a in told.attempts] == [
        ("a", "connect", 0),
        ("b", "", 200),
    ]


@pytest.mark.parametrize("streams", [False, True])
async def test_exactly_one_other_engine_is_tried(
    tmp_path: Path, fake_engine: FakeEngine, *, streams: bool
) -> None:
    async with FakeEngine() as second, FakeEngine() as third:
        for engine in (fake_engine, second, third):
            engine.answers = lambda request: BUSY if request.method == "POST" else None
        async with proxied(tmp_path, fake_engine, second, third) as proxy:
            status, body = await proxy.ask(hello(stream=streams))
        calls = [len(engine.calls) for engine in (fake_engine, second, third)]

    assert (status, body["error"]["code"]) == (503, "engine_busy")
    assert sorted(calls) == [0, 1, 1]


async def test_without_retries_none_is_tried(tmp_path: Path, fake_engine: FakeEngine) -> None:
    fake_engine.then(BUSY)
    async with (
        FakeEngine() as other,
        proxied(tmp_path, fake_engine, other, pools=pool("a", "b", retries=0)) as proxy,
    ):
        status, _ = await proxy.ask(hello())

    assert status == 503
    assert other.calls == []


async def test_after_the_first_byte_no_other_engine_is_asked(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*apart(frame(role()), frame(says("Hello"))), end=(Reset(),)))
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other) as proxy:
        body = await proxy.stream(hello(stream=True))

    assert b'"error"' in body
    assert other.calls == []


async def test_the_same_bytes_are_sent_to_the_other_engine(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then((Reset(),))
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other) as proxy:
        await proxy.ask(hello(messages=[{"role": "user", "content": "to a.b@example.com"}]))
    [first], [second] = fake_engine.calls, other.calls

    assert first.body == second.body
    assert b"a.b@example.com" not in first.body
    assert first.header("X-Request-Id") == second.header("X-Request-Id")
    assert first.header("traceparent") != second.header("traceparent")


async def test_a_kept_connection_that_the_engine_has_closed_is_no_failure(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(SCENARIOS["closes-keep-alive"]())
    async with proxied(tmp_path, fake_engine) as proxy:
        statuses = [(await proxy.ask(hello()))[0] for _ in range(3)]

    assert statuses == [200, 200, 200]
    assert proxy.engines["a"].failures == 0


async def test_connections_to_an_engine_are_kept(tmp_path: Path, fake_engine: FakeEngine) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        for streams in (False, True, True, False):
            await (proxy.stream if streams else proxy.ask)(hello(stream=streams))

    assert len({call.connection for call in fake_engine.calls}) == 1


async def test_failures_in_a_row_eject_an_engine_until_its_time_is_over(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    pools = pool("a", "b", eject={"errors": 2, "for": "1h"})
    fake_engine.then((Reset(),), (Reset(),))
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other, pools=pools) as proxy:
        for _ in range(5):
            status, _ = await proxy.ask(hello())
            assert status == 200
        ejected = len(fake_engine.calls), len(other.calls)
        proxy.engines["a"].ejected_until = 0.0  # its hour is over
        await proxy.ask(hello())

    assert ejected == (2, 5)
    assert len(fake_engine.calls) == 3


async def test_a_busy_engine_is_not_ejected(tmp_path: Path, fake_engine: FakeEngine) -> None:
    pools = pool("a", "b", eject={"errors": 1, "for": "1h"})
    fake_engine.then(BUSY, BUSY)
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other, pools=pools) as proxy:
        for _ in range(3):
            await proxy.ask(hello())

    assert (len(fake_engine.calls), len(other.calls)) == (3, 2)


async def test_a_pool_whose_engines_are_all_ejected_is_used_all_the_same(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then((Reset(),), (Reset(),))
    pools = pool("a", eject={"errors": 1, "for": "1h"})
    async with proxied(tmp_path, fake_engine, pools=pools) as proxy:
        first, _ = await proxy.ask(hello())
        second, _ = await proxy.ask(hello())

    assert (first, second) == (502, 200)


async def test_probes_take_an_engine_out_and_bring_it_back_and_readiness_follows(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    pools = pool("a", health={"interval": "20ms", "unhealthy_after": 2})
    async with proxied(tmp_path, fake_engine, pools=pools) as proxy:
        engine = proxy.engines["a"]
        await eventually(lambda: engine.probed is True)
        ready = await proxy.ready()
        fake_engine.healthy = False
        await eventually(lambda: engine.probed is False)
        red = await proxy.ready()
        refused = await proxy.ask(hello())
        fake_engine.healthy = True
        await eventually(lambda: engine.probed is True)
        back = await proxy.ready()
        served = await proxy.ask(hello())

    assert ready == (200, "ok\n")
    assert red == (503, "pool main: no engine is up\n")
    assert (refused[0], refused[1]["error"]["code"]) == (503, "no_engine")
    assert back == (200, "ok\n")
    assert served[0] == 200


async def test_a_pool_that_is_not_required_leaves_readiness_green(tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    async with proxied(tmp_path, dead, pools=pool("a", required=False)) as proxy:
        await eventually(lambda: proxy.engines["a"].probed is False)
        ready = await proxy.ready()
        status, _ = await proxy.ask(hello())
    [closing] = proxy.closings

    assert ready[0] == 200
    assert status == 503
    assert closing["err"] == "no_engine"
    assert "att" not in closing.get("route", {})


async def test_a_dead_engine_that_starts_again_is_used_again(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    pools = pool("a", health={"interval": "20ms"})
    async with proxied(tmp_path, fake_engine, pools=pools) as proxy:
        await proxy.ask(hello())
        await fake_engine.stop()
        await eventually(lambda: proxy.engines["a"].probed is False)
        await fake_engine.start()
        await eventually(lambda: proxy.engines["a"].probed is True)
        status, _ = await proxy.ask(hello())

    assert status == 200


async def test_the_less_busy_engine_is_asked(tmp_path: Path, fake_engine: FakeEngine) -> None:
    fake_engine.then(after(Stall(), json_answer(chat_body())))
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other) as proxy:
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(proxy.ask(hello()))
            call = await fake_engine.call()
            busy = proxy.engines["a"].inflight
            for _ in range(3):
                await proxy.ask(hello())
            call.resume.set()
        assert (await slow)[0] == 200

    assert busy == 1
    assert (len(fake_engine.calls), len(other.calls)) == (1, 3)


async def test_an_engine_with_all_it_may_have_is_passed_over(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(after(Stall(), normal({})))
    engines = {"a": {"url": fake_engine.url, "max_inflight": 1}}
    async with proxied(tmp_path, fake_engine, engines=engines) as proxy:
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(proxy.ask(hello()))
            call = await fake_engine.call()
            status, body = await proxy.ask(hello())
            call.resume.set()
        assert (await slow)[0] == 200

    assert (status, body["error"]["code"]) == (503, "no_engine")


async def test_a_refusal_for_now_says_when_to_come_back(tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    async with proxied(tmp_path, dead) as proxy:
        await eventually(lambda: proxy.engines["a"].probed is False)
        answer = await asyncio.wait_for(_head(proxy), PATIENCE)

    assert answer == ("5", None)


async def _head(proxy: Proxy) -> tuple[str | None, str | None]:
    async with proxy.post(hello()) as answer:
        return answer.headers.get("Retry-After"), answer.headers.get("X-Should-Retry")
