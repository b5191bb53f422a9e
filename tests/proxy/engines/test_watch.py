import asyncio

from tests.gates import PATIENCE, eventually

from tidegate.proxy.engines.watch import Watch


def watch(beat: float) -> tuple[Watch, asyncio.Event]:
    fired = asyncio.Event()
    return Watch(fired.set, beat), fired


async def test_silence_beyond_the_limit_is_broken() -> None:
    made, fired = watch(0.01)
    made.begin(0.01)
    await asyncio.wait_for(fired.wait(), PATIENCE)

    assert made.fired


async def test_a_limit_that_becomes_shorter_counts_from_the_next_look() -> None:
    made, fired = watch(0.01)
    made.begin(3600.0)
    made.heard(0.01)
    made.waiting()
    await asyncio.wait_for(fired.wait(), PATIENCE)


async def test_who_goes_on_talking_or_has_not_the_word_is_left_alone() -> None:
    made, fired = watch(0.0)
    made.begin(3600.0)
    first = made._timer
    made.went_on(3600.0)
    await eventually(lambda: made._timer is not first)
    second = made._timer
    made.heard(0.001)
    await eventually(lambda: made._timer is not second)
    made.cancel()

    assert not fired.is_set()


async def test_one_timer_serves_requests_in_a_row_and_lapses_at_rest() -> None:
    made, fired = watch(0.0)
    made.begin(3600.0)
    timer = made._timer
    made.rest()
    made.begin(3600.0)
    same = made._timer is timer
    made.rest()
    await eventually(lambda: made._timer is None)
    made.begin(3600.0)
    again = made._timer is not None
    made.cancel()
    made.cancel()

    assert same
    assert again
    assert made._timer is None
    assert not fired.is_set()
