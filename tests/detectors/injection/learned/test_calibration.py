import math
import random

import pytest

from tidegate.detectors.injection.learned.calibration import (
    FEWEST,
    Calibration,
    Curve,
    curve,
    dumps,
    loads,
)
from tidegate.detectors.injection.learned.script import Script


def drawn(count: int) -> list[float]:
    """Scores with an exponential tail: one in 10**d is above d * ln 10."""
    chance = random.Random(3)
    return [chance.expovariate(1) for _ in range(count)]


def test_a_score_says_how_rare_it_is_among_benign_texts() -> None:
    made = curve(drawn(20_000))

    assert made.score(math.log(100)) == pytest.approx(0.5, abs=0.02)
    assert made.score(math.log(10)) == pytest.approx(0.25, abs=0.02)


def test_what_is_rarer_than_the_texts_show_is_extrapolated() -> None:
    made = curve(drawn(2_000))

    assert made.score(math.log(1000)) == pytest.approx(0.75, abs=0.08)
    assert made.score(math.log(10_000)) == pytest.approx(1.0, abs=0.1)
    assert made.score(1e9) == 1
    assert made.score(-1e9) == 0


def test_scores_rise_with_raw_scores() -> None:
    made = curve(drawn(1_000))
    scores = [made.score(at / 10) for at in range(-10, 120)]

    assert scores == sorted(scores)


def test_the_order_of_the_texts_does_not_matter() -> None:
    raws = drawn(500)

    assert curve(raws) == curve(reversed(raws))


def test_too_few_texts_and_equal_ones_make_no_curve() -> None:
    with pytest.raises(ValueError, match="too few"):
        curve(drawn(FEWEST - 1))
    with pytest.raises(ValueError, match="all the same"):
        curve([1.0] * 1000)


def test_a_calibration_is_read_as_it_was_written() -> None:
    made = Calibration({("caller", Script.CJK): Curve((0.5, 1.25), (0.0, 4.0))})

    assert loads(dumps(made, "abc"), "abc") == made


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "no calibration"),
        ("{}", "no calibration"),
        ("nonsense", "Expecting value"),
        ('{"version": 2}', "another version"),
        ('{"version": 1, "classifier": "x", "curves": {}}', "another classifier"),
        ('{"version": 1, "classifier": "a", "curves": {"b": {"latin": [[0, 0]]}}}', "no head 'b'"),
        ('{"version": 1, "classifier": "a", "curves": {"caller": {"b": []}}}', "'b' is not"),
        (
            '{"version": 1, "classifier": "a", "curves": {"caller": {"cjk": [[1, 0], [0, 1]]}}}',
            "must rise",
        ),
        (
            '{"version": 1, "classifier": "a", "curves": {"caller": {"cjk": [[NaN, 0]]}}}',
            "must rise",
        ),
        ('{"version": 1, "classifier": "a", "curves": {"caller": {"cjk": []}}}', "not enough"),
    ],
)
def test_a_file_that_is_no_calibration_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        loads(text, "a")


def test_curves_that_are_missing_come_from_the_other() -> None:
    low, high = Curve((0.0,), (1.0,)), Curve((0.0,), (2.0,))
    shipped = Calibration({("caller", script): low for script in Script})
    made = Calibration({("caller", Script.CJK): high}).over(shipped)

    assert made.score("caller", Script.CJK, 1) == 0.5
    assert made.score("caller", Script.LATIN, 1) == 0.25
