"""Without the proxy: one client, one engine, nothing between them.

So the steps that need no guard succeed, and every step that shows a guard must fail.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tidegate.proxy.demo import tour
from tidegate.proxy.demo.client import Client
from tidegate.proxy.demo.engine import DemoEngine
from tidegate.proxy.demo.prose import MADE_UP_KEY
from tidegate.proxy.demo.report import Fact
from tidegate.proxy.demo.tour import STEPS, Scene, Step, good, take
from tidegate.proxy.demo.watch import Notebook


@asynccontextmanager
async def unguarded() -> AsyncIterator[Scene]:
    engine = DemoEngine("engine-a")
    await engine.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield Scene(Client(session, engine.url), (engine,), Notebook())
    finally:
        await engine.kill()


def step(act: str) -> Step:
    return next(step for step in STEPS if step.act.__name__ == act)


def failed(facts: list[Fact]) -> list[str]:
    return [fact.text for fact in facts if fact.holds is False]


def test_the_tour_has_eight_steps() -> None:
    assert len({step.title for step in STEPS}) == 8


@pytest.mark.parametrize("act", ["clean_chat", "streamed_chat", "left_alone"])
async def test_what_needs_no_guard_succeeds_without_one(act: str) -> None:
    async with unguarded() as scene:
        facts = await take(step(act), scene)

    assert failed(facts) == []
    assert good(facts)


@pytest.mark.parametrize(
    ("act", "missed"),
    [
        ("injection_refused", ["HTTP 200", "code none: ", "no engine saw the request"]),
        ("hidden_injection_refused", ["HTTP 200", "code none: ", "no engine saw the request"]),
        (
            "pii_redacted",
            ["no e-mail address reached the engine", "no card number reached the engine"],
        ),
        ("secret_masked", ["the key did not reach the client"]),
    ],
)
async def test_what_shows_a_guard_fails_without_one(act: str, missed: list[str]) -> None:
    async with unguarded() as scene:
        facts = await take(step(act), scene)

    assert failed(facts) == missed
    assert not good(facts)


async def test_a_key_that_leaks_is_not_printed_either() -> None:
    async with unguarded() as scene:
        facts = await take(step("secret_masked"), scene)

    assert not [fact for fact in facts if MADE_UP_KEY in fact.text]


async def test_without_failover_the_killed_engine_breaks_the_step_off_and_is_up_again() -> None:
    async with unguarded() as scene:
        (fact,) = await take(step("failed_over"), scene)
        after = await take(step("clean_chat"), scene)

    assert fact.text.startswith("broken off: ")
    assert fact.holds is False
    assert good(after)


async def test_an_answer_from_nowhere_is_no_failover() -> None:
    async with unguarded() as scene:
        idle = DemoEngine("engine-b")
        await idle.start()
        try:
            elsewhere = Scene(scene.client, (idle,), scene.notebook)
            facts = await take(step("failed_over"), elsewhere)
        finally:
            await idle.kill()

    assert failed(facts) == ["no engine worked on it"]


async def test_an_answer_from_nowhere_stops_no_engine() -> None:
    async with unguarded() as scene:
        elsewhere = Scene(scene.client, (DemoEngine("engine-b"),), scene.notebook)
        facts = await take(step("left_alone"), elsewhere)

    assert failed(facts) == ["no engine answered"]


async def test_personal_data_that_went_nowhere_was_not_redacted() -> None:
    async with unguarded() as scene:
        elsewhere = Scene(scene.client, (DemoEngine("engine-b"),), scene.notebook)
        facts = await take(step("pii_redacted"), elsewhere)

    assert failed(facts) == ["engine got:  "]


async def test_a_step_that_hangs_has_failed() -> None:
    async def hang(_scene: Scene) -> list[Fact]:
        await asyncio.Event().wait()
        return []

    async with unguarded() as scene:
        (fact,) = await take(Step("", "", hang), scene, seconds=0.0)

    assert fact == Fact("not over in time", holds=False)


async def test_a_proxy_that_is_gone_fails_every_step() -> None:
    async with unguarded() as scene:
        await scene.engines[0].kill()
        results = [await take(step, scene) for step in STEPS]

    assert not [facts for facts in results if good(facts)]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([], False),
        ([Fact("shown")], False),
        ([Fact("shown"), Fact("held", holds=True)], True),
        ([Fact("held", holds=True), Fact("failed", holds=False)], False),
    ],
)
def test_a_step_is_good_if_something_was_judged_and_nothing_failed(
    facts: list[Fact], *, expected: bool
) -> None:
    assert good(facts) is expected


def test_the_steps_say_what_they_show() -> None:
    assert tour.ATTACK in STEPS[2].says
