import pytest
from tests.bench.verdict import Ratio, Rounds, median, missed, ratio, table


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert Ratio(2.0, 1.0, 4.0) == ratio([2.0, 1.0, 8.0], [1.0, 1.0, 2.0])


def test_rounds_without_a_figure_do_not_count() -> None:
    assert Ratio(3.0, 3.0, 3.0) == ratio([None, 3.0, 1.0], [1.0, 1.0, None])


def test_there_is_no_ratio_without_a_pair() -> None:
    assert ratio([None], [1.0]) is None


def test_the_median_of_nothing_is_none() -> None:
    assert median([None]) is None


@pytest.mark.parametrize(("cost", "count"), [(1.7, 0), (1.71, 1)])
def test_a_budget_is_missed_only_above_it(cost: float, count: int) -> None:
    rounds: Rounds = {"json": {"plain": [1.0], "tidegate": [cost]}}

    assert count == len(missed(rounds, {"json": 1.7}))


def test_a_budget_that_cannot_be_judged_is_missed() -> None:
    rounds: Rounds = {"json": {"plain": [None], "tidegate": [1.0]}}

    assert missed(rounds, {"json": 1.7}) == ["json: not judged, a figure is missing"]


def test_a_scenario_that_was_left_out_is_not_judged() -> None:
    assert missed({}, {"json": 1.7}) == []


def test_the_table_shows_figures_and_ratios() -> None:
    rounds: Rounds = {"json": {"plain": [100.0], "tidegate": [150.0], "nginx": [None]}}
    lines = table(rounds, {"json": "us"}).splitlines()

    assert "| json | us | tidegate | 150.0 | 1.50 (1.50-1.50) |" in lines
    assert "| json | us | nginx | - | - |" in lines
