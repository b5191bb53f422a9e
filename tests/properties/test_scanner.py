"""What a scanner says of a beginning of a text stays true of the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.detectors import Pattern
from tidegate.detectors.scanner import Scanner

CASES = (
    (
        Pattern("ssn", "k", r"\d{3}-\d{2}-\d{4}", 1.0),
        ["078-05-1120", "078-05", "-1120", "1", "-"],
    ),
    (
        Pattern("card", "k", r"\d(?:[ -]?\d){12,18}", 1.0, check=lambda t: t[0] == "4"),
        ["4111 1111 1111 1111", "5111", "1", " ", "-", "11111111"],
    ),
    (
        Pattern(
            "mail",
            "k",
            r"[a-z0-9.]{1,20}@(?:[a-z0-9-]{1,20}\.){1,4}[a-z]{2,6}",
            1.0,
            left="a-z0-9.",
        ),
        ["a.b@c.com", "x", "@", ".", "com", "a" * 21],
    ),
    (
        Pattern("pem", "k", r"--KEY--[a-z\n]{4,40}(?:--END--)?", 1.0, "", ""),
        ["--KEY--", "abcd", "\n", "--END--", "--", "-"],
    ),
    (Pattern("ab", "k", r"(?:ab){1,3}c?|abd", 1.0, "", ""), ["ab", "abd", "c", "a", "b"]),
    (Pattern("key", "k", r"sk-[a-z]{4,200}", 1.0, ignore_case=True), ["sk-", "SK-abcd", "x", "-"]),
    (
        Pattern("wide", "k", r"[世界]{1,3}😀?é", 1.0, left="a", right="b"),
        ["世", "界", "😀", "é", "a", "b"],
    ),
)
ANYWHERE = [" ", "世", "é", "😀", "\ud800", "_", "\n", "."]
SCANNERS = [Scanner([pattern]) for pattern, _ in CASES]
ALL = Scanner([pattern for pattern, _ in CASES])


def never_lies(scanner: Scanner, text: str) -> None:
    whole = set(scanner.candidates(text))
    for end in range(len(text) + 1):
        beginning = text[:end]
        decided = scanner.in_progress(beginning, 0)
        seen = set(scanner.candidates(beginning))
        early = {c for c in whole if c.start < decided}

        assert early <= seen
        assert {c for c in seen if c.start < decided and c.end < end} <= early


@pytest.mark.parametrize("case", range(len(CASES)))
def test_no_match_that_may_still_grow_is_called_decided(case: int) -> None:
    pieces = st.sampled_from([*CASES[case][1], *ANYWHERE])

    @settings(max_examples=150, deadline=None)
    @given(text=st.lists(pieces, max_size=10).map("".join))
    def holds(text: str) -> None:
        never_lies(SCANNERS[case], text)

    holds()


@settings(max_examples=150, deadline=None)
@given(
    text=st.lists(
        st.sampled_from([*{p for _, pieces in CASES for p in pieces}, *ANYWHERE]), max_size=10
    ).map("".join)
)
def test_patterns_beside_each_other_do_not_make_it_lie(text: str) -> None:
    never_lies(ALL, text)


@settings(max_examples=300, deadline=None)
@given(
    text=st.lists(st.sampled_from([*CASES[0][1], *ANYWHERE]), max_size=8).map("".join),
    start=st.integers(0, 40),
)
def test_reading_from_a_start_finds_what_begins_there_or_later(text: str, start: int) -> None:
    start = min(start, len(text))
    expected = [c for c in SCANNERS[0].candidates(text) if c.start >= start]

    assert expected == SCANNERS[0].candidates(text, start)
