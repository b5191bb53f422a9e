from random import Random

import pytest
from tests.proxy.engines.engines import engine

from tidegate.proxy.engines import Engine, Pool
from tidegate.proxy.errors import NoEngine


def pool(*engines: Engine) -> Pool:
    return Pool("main", engines, Random(1))


def test_it_is_up_while_a_probe_has_found_one_engine_well() -> None:
    assert not pool().up
    assert not pool(engine()).up
    assert not pool(engine(probed=False)).up
    assert pool(engine(probed=False), engine(probed=True)).up


def test_only_usable_engines_are_chosen() -> None:
    down = engine("down", probed=False)
    ejected = engine("ejected", ejected_until=10.0)
    full = engine("full", max_inflight=1, inflight=1)
    well = engine("well", inflight=5)

    assert pool(down, ejected, full, well).choose(0.0) is well


def test_an_engine_that_was_tried_is_chosen_only_if_there_is_no_other() -> None:
    first, second = engine("first"), engine("second", inflight=9)
    both = pool(first, second)

    assert both.choose(0.0, [first]) is second
    assert both.choose(0.0, [first, second]) in (first, second)


def test_the_only_engine_is_chosen_again() -> None:
    only = engine()

    assert pool(only).choose(0.0) is only
    assert pool(only).choose(0.0, [only]) is only


def test_when_all_are_ejected_those_the_probe_finds_well_are_used_all_the_same() -> None:
    ejected = engine("ejected", probed=True, ejected_until=10.0)
    down = engine("down", probed=False, ejected_until=10.0)

    assert pool(ejected, down).choose(0.0) is ejected
    assert pool(ejected).choose(0.0) is ejected


@pytest.mark.parametrize(
    "engines",
    [
        (),
        (engine(probed=False),),
        (engine(max_inflight=1, inflight=1),),
        (engine(probed=False), engine(max_inflight=1, inflight=1, ejected_until=9.0)),
    ],
)
def test_without_a_usable_engine_there_is_none(engines: tuple[Engine, ...]) -> None:
    with pytest.raises(NoEngine) as caught:
        pool(*engines).choose(0.0)

    assert (caught.value.status, caught.value.code) == (503, "no_engine")
