"""Problems: how they read, how many are shown, what they suggest."""

from tidegate.policies.problem import (
    MOST_PROBLEMS,
    Mistakes,
    Place,
    Problem,
    capped,
    quoted,
    suggestion,
)


def test_a_problem_reads_as_place_what_why_fix() -> None:
    problem = Place("a.yaml", 3, 5).problem("x is 1", "it must be 2", "write 2")

    assert str(problem) == "a.yaml:3:5: x is 1, it must be 2, write 2"


def test_a_variable_has_no_line() -> None:
    assert str(Place("TIDEGATE_X").problem("a", "b", "c")) == "TIDEGATE_X: a, b, c"


def test_problems_are_ordered_by_place_with_variables_last() -> None:
    first, second, variable = (
        Problem("b", 1, 9, "", "", ""),
        Problem("b", 2, 1, "", "", ""),
        Problem("A", 0, 0, "", "", ""),
    )

    assert (first, second, variable) == capped([variable, second, first, first])


def test_more_than_the_limit_is_counted_and_not_shown() -> None:
    problems = capped(Problem("f", n, 1, "w", "y", "x") for n in range(1, MOST_PROBLEMS + 8))

    assert len(problems) == MOST_PROBLEMS + 1
    assert str(problems[-1]) == "f: 7 more mistakes are not shown, the list is long, repair these"


def test_mistakes_say_every_problem() -> None:
    one, two = Problem("f", 1, 1, "a", "b", "c"), Problem("f", 2, 1, "d", "e", "f")

    assert str(Mistakes([two, one])) == "f:1:1: a, b, c\nf:2:1: d, e, f"


def test_a_close_name_is_suggested() -> None:
    assert suggestion("replacment", ["reason", "replacement"]) == "did you mean 'replacement'?"


def test_without_a_close_name_the_known_ones_are_listed() -> None:
    assert suggestion("zzz", ["b", "a"]) == "use one of a, b"
    assert suggestion("zzz", [f"n{i}" for i in range(9)]).endswith("n7, …")


def test_without_any_known_name_it_is_to_be_defined() -> None:
    assert suggestion("x", []) == "define it first"


def test_long_values_are_cut() -> None:
    assert quoted("a") == "'a'"
    assert len(quoted("a" * 100)) == 60
