from collections.abc import Sequence

import pytest

from tidegate.detectors import Finding, Pattern, Segment, Source, Trust
from tidegate.detectors.scanner import Overloaded, Scanner


def segment(text: str, start: int = 0) -> Segment:
    return Segment(text, (), Source.USER, Trust.CALLER, start)


def spans(scanner: Scanner, text: str, start: int = 0) -> list[tuple[int, int]]:
    return [(f.start, f.end) for f in scanner.find(segment(text, start))]


def one(body: str, score: float = 0.9, **conditions: object) -> Scanner:
    return Scanner([Pattern("p", "kind", body, score, **conditions)])  # type: ignore[arg-type]


SSN = one(r"\d{3}-\d{2}-\d{4}")


@pytest.mark.parametrize(
    "body", ["^a", "a*", "a(?=b)", "(", "(?:a{1,80}b){1,200}", "(?:x[a-z]{500}){3}"]
)
def test_a_pattern_that_cannot_be_followed_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|RE2"):
        one(body)


def test_a_class_of_neighbours_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="RE2 cannot follow"):
        one("a", left="z-a")


def test_a_finding_names_kind_place_score_and_rule() -> None:
    expected = [Finding("kind", 3, 14, 0.9, "p")]

    assert expected == SSN.find(segment("is 078-05-1120."))


@pytest.mark.parametrize("text", ["x078-05-1120", "078-05-11201", "_078-05-1120", "078-05-1120_"])
def test_a_word_character_beside_it_makes_it_part_of_something_else(text: str) -> None:
    assert spans(SSN, text) == []


@pytest.mark.parametrize("side", ["世", "é", "😀", "-", " ", "\n", "\ud800", ""])
def test_other_characters_beside_it_do_not_matter(side: str) -> None:
    at = len(side)

    assert [(at, at + 11)] == spans(SSN, f"{side}078-05-1120{side}")


def test_sides_may_be_left_open() -> None:
    assert spans(one("ab", left="", right=""), "xabx") == [(1, 3)]


@pytest.mark.parametrize("before", ["世界", "😀😀", "é", "\ud800\udfff", "a世😀\ud800"])
def test_places_count_characters_whatever_their_bytes(before: str) -> None:
    text = f"{before} 078-05-1120 {before} 078-05-1120 世"
    first = len(before) + 1
    second = first + 11 + 1 + len(before) + 1

    assert [(first, first + 11), (second, second + 11)] == spans(SSN, text)


def test_characters_in_a_match_may_be_of_any_width() -> None:
    assert spans(one("[世😀é]{3}", left="", right=""), "x世😀éx") == [(1, 4)]


@pytest.mark.parametrize("before", ["", "世", "😀 "])
def test_nothing_before_the_start_is_reported(before: str) -> None:
    text = f"{before}078-05-1120 078-05-1120"
    second = len(before) + 12

    assert [(second, second + 11)] == spans(SSN, text, len(before) + 1)
    assert [(second, second + 11)] == spans(SSN, text, second)
    assert spans(SSN, text, second + 1) == []
    assert spans(SSN, text, len(text)) == []


@pytest.mark.parametrize(("text", "found"), [("x078-05-1120", []), ("世078-05-1120", [(1, 12)])])
def test_the_character_before_the_start_is_still_a_neighbour(
    text: str, found: list[tuple[int, int]]
) -> None:
    assert found == spans(SSN, text, 1)


def test_neighbours_may_share_the_character_between_them() -> None:
    assert spans(SSN, "078-05-1120 078-05-1120") == [(0, 11), (12, 23)]


def test_a_neighbour_may_be_the_end_of_a_match() -> None:
    assert spans(one("ab", left="", right=""), "abab") == [(0, 2), (2, 4)]


def test_case_counts_unless_the_pattern_says_otherwise() -> None:
    assert spans(one("akia"), "AKIA") == []
    assert spans(one("akia", ignore_case=True), "AkIa") == [(0, 4)]


def test_a_check_may_reject_a_match() -> None:
    even = one(r"\d{2}", check=lambda text: int(text) % 2 == 0)

    assert spans(even, "11 12 13") == [(3, 5)]


def test_a_context_must_stand_shortly_before() -> None:
    pin = one(r"\d{4}", context="(?i)pin|密码")

    assert spans(pin, "PIN 1234") == [(4, 8)]
    assert spans(pin, "密码1234") == [(2, 6)]
    assert spans(pin, "1234 pin") == []
    assert spans(pin, "pin" + " " * 45 + "1234") == [(48, 52)]
    assert spans(pin, "pin" + " " * 46 + "1234") == []


def test_a_repeat_over_re2s_limit_ends_at_its_bound() -> None:
    long = one("-[a-z]{3,1500}", right="")

    assert spans(long, "-" + "a" * 3000) == [(0, 1501)]
    assert spans(long, "世 -" + "a" * 3000) == [(2, 1503)]
    assert long.reach == 1502


@pytest.mark.parametrize("before", ["", "世 ", "x" * 5000, "世" * 5000])
def test_a_body_that_is_too_long_hides_none_that_follows(before: str) -> None:
    long = one("-a{1,1500}b", left="", right="")
    text = f"{before}-{'a' * 1501}b-{'a' * 1500}b-{'a' * 9000}"
    at = len(before) + 1503

    assert [(at, at + 1502)] == spans(long, text)


def test_the_first_of_two_long_matches_counts() -> None:
    long = one("-[-a]{1,1500}b", left="", right="")
    text = "x" * 1503 + "-" + "a" * 1499 + "-b"

    assert spans(long, text) == [(1503, 3005)]


def test_a_text_of_look_alikes_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.detectors.scanner.MOST_CANDIDATES", 10)
    never = one(r"\d", left="", right="", check=lambda _: False)

    assert len(never.candidates("1" * 10)) == 10
    with pytest.raises(Overloaded, match="over 10 matches"):
        never.candidates("1" * 11)


def test_a_context_without_a_letter_is_not_asked() -> None:
    hashed = one(r"\d{4}", context="#|号")

    assert spans(hashed, "# 1234") == []
    assert spans(hashed, "No # 1234") == [(5, 9)]
    assert spans(hashed, "号 1234") == [(2, 6)]


def test_a_word_that_speaks_against_it_must_not_stand_shortly_before() -> None:
    pin = one(r"\d{4}", unless=r"(?i)order\W{0,3}$")

    assert spans(pin, "order 1234") == []
    assert spans(pin, "ordered 1234, order: 5678") == [(8, 12)]
    assert spans(pin, "1234") == [(0, 4)]


def test_a_word_may_speak_for_it_and_another_against_it() -> None:
    pin = one(r"\d{4}", context="pin", unless="order")

    assert spans(pin, "pin 1234") == [(4, 8)]
    assert spans(pin, "order of pin 1234") == []


def test_candidates_are_matches_before_check_and_context() -> None:
    scanner = one(r"\d{2}", check=lambda _: False, context="never")
    candidates = scanner.candidates("11 12")

    assert [(c.start, c.end, c.pattern) for c in candidates] == [(0, 2, 0), (3, 5, 0)]
    assert scanner.confirm("11 12", candidates) == []


def uncovered(*parts: tuple[str, float]) -> list[tuple[int, int]]:
    patterns = [Pattern(body, "k", body, score, "", "") for body, score in parts]
    return spans(Scanner(patterns), "abcdef")


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([("abcd", 0.9), ("bc", 0.9)], [(0, 4)]),
        ([("abcd", 0.9), ("bc", 0.5)], [(0, 4)]),
        ([("abcd", 0.5), ("bc", 0.9)], [(0, 4), (1, 3)]),
        ([("abc", 0.9), ("cd", 0.5)], [(0, 3), (2, 4)]),
        ([("ab", 0.9), ("ab", 0.5)], [(0, 2)]),
        ([("ab", 0.9), ("cd", 0.5)], [(0, 2), (2, 4)]),
        ([("abcdef", 0.9), ("ab", 0.1), ("ef", 0.1)], [(0, 6)]),
    ],
)
def test_what_lies_inside_a_finding_at_least_as_sure_is_dropped(
    parts: Sequence[tuple[str, float]], found: list[tuple[int, int]]
) -> None:
    assert found == uncovered(*parts)


def test_seeing_tells_whether_something_may_be_found() -> None:
    assert SSN.sees(b"is 078-05-1120.")
    assert not SSN.sees(b"is 078-05-112")
    assert not SSN.sees(b"\xff\xfe")


def test_without_patterns_nothing_is_found_or_held() -> None:
    empty = Scanner([])

    assert empty.find(segment("078-05-1120")) == []
    assert not empty.sees(b"078-05-1120")
    assert empty.in_progress("abc", 1) == 3
    assert empty.reach == 1
    assert frozenset() == empty.kinds


@pytest.mark.parametrize(
    ("text", "start", "at"),
    [
        ("", 0, 0),
        ("hello", 0, 5),
        ("0", 0, 0),
        ("is 078-05", 0, 3),
        ("世😀 078-05", 0, 3),
        ("x078-05", 0, 5),  # a hyphen is no word character
        ("is 078-05-1120", 0, 3),
        ("is 078-05-1120 ", 0, 15),
        ("078-05 078-0", 0, 7),
        ("078-05", 1, 4),
        ("a078-05", 1, 5),
        ("世078-05", 1, 1),
        ("\ud800078-05", 1, 1),
    ],
)
def test_the_leftmost_beginning_at_the_end_is_in_progress(text: str, start: int, at: int) -> None:
    assert at == SSN.in_progress(text, start)


def test_nothing_is_in_progress_for_longer_than_the_reach() -> None:
    long = one("a{1,40}b", left="")

    assert long.reach == 41 + 1
    assert 100 - long.reach == long.in_progress("a" * 100, 0)
    assert long.in_progress("a" * 100, 90) == 90


def test_a_match_that_its_check_refused_hides_nothing_inside_it() -> None:
    even = one(r"\d{2}", left="", right="", check=lambda text: int(text) % 2 == 0)

    assert spans(even, "312134") == [(1, 3), (4, 6)]


def test_matches_of_wide_characters_may_touch() -> None:
    assert spans(one("[世😀]", left="", right=""), "世😀世") == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("text", "start", "idle"),
    [
        ("", 0, True),
        ("hello", 0, True),
        ("is 078-05", 0, False),
        ("is 078-05-1120 and", 0, False),
        ("is 078-05-1120 and", 14, True),
        ("is 078-05x", 0, True),
        ("\x00", 0, True),
        ("世 0", 1, False),
    ],
)
def test_a_stream_is_idle_when_nothing_occurs_or_may_begin(
    text: str,
    start: int,
    idle: bool,  # noqa: FBT001 - pytest passes it by name
) -> None:
    assert idle == SSN.idle(text, start)
    assert Scanner([]).idle(text, start)
