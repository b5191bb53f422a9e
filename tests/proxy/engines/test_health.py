import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from tests.fakes.answers import Answer, Close, Stall, json_answer
from tests.fakes.engine import FakeEngine, Received
from tests.gates import PATIENCE, eventually
from tests.proxy.engines.engines import engine
from tests.receivers import free_port

from tidegate.proxy.engines import Engine
from tidegate.proxy.engines.health import Probe, watch_all

QUICK = Probe(path="/health", interval=0.005, timeout=0.2)


@asynccontextmanager
async def watched(*engines: Engine, probe: Probe = QUICK) -> AsyncIterator[list[tuple[str, bool]]]:
    """The changes that are told while engines are watched."""
    told: list[tuple[str, bool]] = []
    async with aiohttp.ClientSession() as session:
        pairs = [(each, probe) for each in engines]
        task = asyncio.ensure_future(
            watch_all(pairs, session, lambda each: told.append((each.name, bool(each.probed))))
        )
        try:
            yield told
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_change_is_told_once(fake_engine: FakeEngine) -> None:
    async with watched(engine(url=fake_engine.url)) as told:
        await eventually(lambda: len(fake_engine.requests) > 3)
        fake_engine.healthy = False
        await eventually(lambda: len(told) > 1)
        fake_engine.healthy = True
        await eventually(lambda: len(told) > 2)

    assert told == [("a", True), ("a", False), ("a", True)]


async def test_the_first_failure_of_all_counts_at_once_later_ones_by_their_number() -> None:
    made = engine(url=f"http://127.0.0.1:{free_port()}")
    async with watched(made, probe=Probe("/health", 60.0, 0.2, unhealthy_after=100)) as told:
        await eventually(lambda: made.probed is False)

    assert told == [("a", False)]


async def test_an_engine_is_down_only_after_as_many_failures_as_configured(
    fake_engine: FakeEngine,
) -> None:
    def answer(request: Received) -> Answer:
        statuses = [200, 503, 503, 200, 503, 503, 503]
        number = min(len(fake_engine.requests), len(statuses)) - 1
        return json_answer({}, status=statuses[number])

    fake_engine.answers = answer
    made = engine(url=fake_engine.url)
    async with watched(made, probe=Probe("/health", 0.005, 0.2, unhealthy_after=3)) as told:
        await eventually(lambda: made.probed is False)

    assert told == [("a", True), ("a", False)]
    assert len(fake_engine.requests) >= 7


async def test_an_engine_is_up_only_after_as_many_good_answers_as_configured(
    fake_engine: FakeEngine,
) -> None:
    made = engine(url=fake_engine.url)
    async with watched(made, probe=Probe("/health", 0.005, 0.2, healthy_after=3)):
        await eventually(lambda: made.probed is True)

    assert len(fake_engine.requests) >= 3


async def test_coming_up_ends_an_ejection(fake_engine: FakeEngine) -> None:
    made = engine(url=fake_engine.url, failures=2, ejected_until=1e9, probed=False)
    async with watched(made):
        await eventually(lambda: made.probed is True)

    assert (made.failures, made.ejected_until) == (0, 0.0)


@pytest.mark.parametrize(
    "answer",
    [
        (Stall(),),
        (Close(),),
        json_answer({}, status=301, headers=[("Location", "/v1/models")]),
        json_answer({}, status=404),
    ],
)
async def test_silence_a_closed_connection_and_other_statuses_are_failures(
    fake_engine: FakeEngine, answer: Answer
) -> None:
    fake_engine.answers = lambda _: answer
    made = engine(url=fake_engine.url, probed=True)
    async with watched(made):
        await asyncio.wait_for(eventually(lambda: made.probed is False), PATIENCE)


async def test_an_engine_that_hangs_delays_no_other(fake_engine: FakeEngine) -> None:
    fake_engine.answers = lambda _: (Stall(),)
    async with FakeEngine() as other:
        hangs, well = engine("a", fake_engine.url), engine("b", other.url)
        async with watched(hangs, well, probe=Probe("/health", 0.005, 60.0)):
            await eventually(lambda: len(other.requests) > 3)

    assert hangs.probed is None


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("openai", "/v1/models"),
        ("ollama", "/api/version"),
        ("vllm", "/health"),
        ("sglang", "/health"),
        ("llamacpp", "/health"),
        ("tgi", "/health"),
    ],
)
async def test_what_is_asked_without_a_path_is_usual_for_the_kind(
    fake_engine: FakeEngine, kind: str, path: str
) -> None:
    made = engine(url=fake_engine.url, kind=kind)
    async with watched(made, probe=Probe(interval=60.0)):
        await eventually(lambda: made.probed is not None)

    assert [request.target for request in fake_engine.requests] == [path]
    assert made.probed


async def test_the_probe_asks_below_the_engines_own_path_with_its_credential(
    fake_engine: FakeEngine,
) -> None:
    headers = (("Authorization", "Bearer own"),)
    async with watched(engine(url=f"{fake_engine.url}/base/", headers=headers)):
        await eventually(lambda: bool(fake_engine.requests))

    assert fake_engine.requests[0].target == "/base/health"
    assert fake_engine.requests[0].header("Authorization") == "Bearer own"
