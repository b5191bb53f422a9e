from collections import Counter
from random import Random

from tests.proxy.engines.engines import engine

from tidegate.proxy.engines.balance import pick


def test_the_only_one_is_picked() -> None:
    only = engine()

    assert pick([only], Random(1)) is only


def test_of_two_the_less_busy_is_picked() -> None:
    idle, busy = engine("idle"), engine("busy", inflight=1)

    assert {
        pick(pair, Random(seed)).name
        for seed in range(20)
        for pair in ([idle, busy], [busy, idle])
    } == {"idle"}


def test_weight_makes_room() -> None:
    large, small = engine("large", inflight=3, weight=4.0), engine("small", inflight=1)

    assert pick([small, large], Random(1)) is large


def test_equally_busy_engines_share_evenly() -> None:
    random = Random(1)
    pair = [engine("a"), engine("b")]
    picked = Counter(pick(pair, random).name for _ in range(1000))

    assert set(picked) == {"a", "b"}
    assert min(picked.values()) > 400


def test_of_many_the_busiest_is_never_picked() -> None:
    random = Random(1)
    many = [engine(str(number), inflight=number) for number in range(5)]
    picked = Counter(pick(many, random).name for _ in range(1000))

    assert "4" not in picked
    assert picked["0"] > picked["1"] > picked["2"] > picked["3"] > 0
