from tidegate.detectors.injection.train.dice import Dice


def test_the_same_seed_falls_the_same_way_on_every_machine() -> None:
    assert _throws("caller") == [17, 53, 73, 77, 88]
    assert _throws("caller") != _throws("other")


def test_choices_stay_within_what_there_is() -> None:
    dice = Dice("x")

    assert {dice.of("abc") for _ in range(100)} == {"a", "b", "c"}
    assert sorted(dice.shuffled(range(9))) == list(range(9))
    assert dice.below(0) == 0
    assert dice.happens(1)
    assert not dice.happens(0)


def _throws(seed: str) -> list[int]:
    dice = Dice(seed)
    return [dice.below(100) for _ in range(5)]
