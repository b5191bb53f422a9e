"""One rule: what it matches, what it contains, what it puts in place of a finding."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.examples import ANSWER, INPUT, KINDS, OUTPUT, TOOL, USER, finding, rule

from tidegate.detectors import Segment, Source, Trust
from tidegate.policies.decision import Direction, Facts
from tidegate.policies.rule import bad_placeholders, cell, covers, score_of


def test_globs_are_expanded_over_the_known_kinds() -> None:
    assert frozenset({"pii.card", "pii.email"}) == rule("r", "flag", "pii.*").kinds


def test_every_combination_has_a_cell_of_its_own() -> None:
    cells = {cell(d, t, s) for d in Direction for t in Trust for s in Source}

    assert set(range(len(Direction) * len(Trust) * len(Source))) == cells


@pytest.mark.parametrize(
    ("conditions", "facts", "segment", "why"),
    [
        ({}, INPUT, USER, ""),
        ({"kinds": "secret.*"}, INPUT, USER, "its kinds do not name pii.email"),
        ({"direction": "output"}, INPUT, USER, "it does not speak of input from caller in user"),
        ({"direction": "output"}, OUTPUT, ANSWER, ""),
        ({"trust": "caller"}, INPUT, TOOL, "it does not speak of input from third_party in tool_"),
        ({"sources": "user"}, INPUT, TOOL, "it does not speak of input from third_party in tool_"),
        ({"routes": "a-*"}, INPUT, USER, "its routes do not name 'chat'"),
        ({"routes": ["a-*", "ch*"]}, INPUT, USER, ""),
        ({"min_score": 0.95}, INPUT, USER, "the score 0.9 is below 0.95"),
        ({"min_score": 0.9}, INPUT, USER, ""),
    ],
)
def test_a_rule_matches_or_says_why_not(
    conditions: dict[str, object], facts: Facts, segment: Segment, why: str
) -> None:
    kinds = str(conditions.pop("kinds", "pii.*")) if "kinds" in conditions else "pii.*"
    tested = rule("r", "flag", kinds, **conditions)
    refusal = tested.refusal(facts, segment, finding())

    assert bool(why) == bool(refusal)
    assert refusal.startswith(why)
    if "min_score" not in conditions:
        applies = tested.applies_to(facts, "pii.email", segment.trust, segment.source)
        assert applies == (not why)


def test_a_kind_that_no_registry_knows_is_matched_by_its_glob() -> None:
    assert rule("r", "block", "pii.*").speaks_of("pii.brand_new")
    assert not rule("r", "block", "pii.*").speaks_of("other.kind")


@pytest.mark.parametrize(
    ("narrow", "condition"),
    [
        ({"kinds": "pii.card"}, "kinds"),
        ({"direction": "input"}, "direction, trust or sources"),
        ({"trust": "caller"}, "direction, trust or sources"),
        ({"sources": "user"}, "direction, trust or sources"),
        ({"routes": "chat"}, "routes"),
        ({"min_score": 0.5}, "min_score"),
    ],
)
def test_a_rule_contains_one_that_is_narrower_in_one_condition(
    narrow: dict[str, object], condition: str
) -> None:
    wide = rule("w", "flag")
    inner = rule("n", "flag", str(narrow.pop("kinds", "pii.*")), **narrow)

    assert wide.contains(inner)
    assert not inner.contains(wide)
    assert (condition,) == inner.narrower_than(wide)


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        (["*"], ["a", "b-*"], True),
        (["a-*"], ["a-b-*"], True),
        (["a-*"], ["a*"], False),
        (["a*", "b"], ["ab", "b"], True),
        (["a"], ["*"], False),
        (["*-x"], ["a-*"], False),
    ],
)
def test_globs_cover_globs(outer: list[str], inner: list[str], *, inside: bool) -> None:
    assert inside == covers(outer, inner)


GLOBS = st.text("ab*", min_size=1, max_size=4)


@given(GLOBS, GLOBS, st.text("ab", max_size=6))
def test_what_is_covered_is_matched(outer: str, inner: str, name: str) -> None:
    if covers([outer], [inner]) and covers([inner], [name]):
        assert covers([outer], [name])


def test_the_mask_names_the_kind() -> None:
    assert rule("r", "redact").mask("pii.card") == "[CARD]"
    assert (
        rule("r", "redact", replacement="<{kind} {KIND}>").mask("pii.card")
    ) == "<pii.card CARD>"
    assert rule("r", "redact", replacement="").mask("pii.card") == ""


def test_other_placeholders_are_found() -> None:
    assert list(bad_placeholders("[{KIND}] {kind}")) == []
    assert list(bad_placeholders("{name} {KIND} } {")) == ["{name}", "}", "{"]


def test_the_form_holds_every_field() -> None:
    names = {field.name for field in dataclasses.fields(rule("r", "flag"))}

    assert names == set(rule("r", "flag").form())
    assert KINDS


@pytest.mark.parametrize(("one_in", "score"), [(1, 0), (100, 0.5), (1000, 0.75), (10_000, 1)])
def test_one_in_so_many_benign_texts_is_a_score(one_in: int, score: float) -> None:
    assert score_of(one_in) == score
