"""Rules that cannot do what their author meant."""

import pytest
from tests.policies.examples import rule

from tidegate.policies.check import contradictions, useless
from tidegate.policies.rule import Rule
from tidegate.policies.source import Source

NOWHERE = Source("f", {}, {}, {})


def told(*rules: Rule) -> list[str]:
    found = [*contradictions(rules, NOWHERE), *useless(rules, NOWHERE)]
    return [f"{problem.what}: {problem.why}" for problem in found]


def test_rules_with_the_same_match_contradict_or_repeat_each_other() -> None:
    [first, *_] = told(rule("a", "flag"), rule("b", "block"))

    assert first == (
        "the rules 'a' and 'b' contradict each other: "
        "they match the same findings and say flag and block"
    )
    assert (told(rule("a", "flag"), rule("b", "flag"))) == [
        "the rules 'a' and 'b' say the same: they match the same findings"
    ]


def test_a_rule_inside_a_stricter_one_never_decides() -> None:
    assert told(rule("a", "flag", "pii.card"), rule("b", "block")) == [
        "the rule 'a' never decides: whatever it matches is decided more strictly by 'b'"
    ]


def test_several_stricter_rules_can_cover_one_together() -> None:
    [problem] = told(
        rule("a", "flag"),
        rule("b", "redact", "pii.card"),
        rule("c", "block", "pii.email", direction="input"),
        rule("d", "block", "pii.email", direction="output"),
        rule("e", "block", "secret.*"),
    )

    assert problem.endswith("more strictly by 'b', 'c', 'd'")


@pytest.mark.parametrize(
    "stricter",
    [
        {"direction": "input"},
        {"min_score": 0.5},
        {"routes": "chat"},
        {"trust": "caller"},
    ],
)
def test_a_rule_that_a_stricter_one_covers_in_part_is_fine(stricter: dict[str, object]) -> None:
    wide = rule("b", "block", "pii.*", **stricter)

    assert told(rule("a", "flag"), wide) == []


def test_a_rule_behind_a_stricter_one_with_an_exception_is_fine() -> None:
    assert (
        told(
            rule("a", "flag", "pii.email", trust="caller"),
            rule("b", "block"),
            rule("c", "allow", "pii.email"),
        )
        == []
    )


def test_a_narrower_rule_of_the_same_action_is_fine() -> None:
    assert told(rule("a", "redact", "pii.card", replacement="x"), rule("b", "redact")) == []


def test_an_exception_to_nothing_says_so() -> None:
    assert (told(rule("a", "allow"), rule("b", "block", "secret.*"))) == [
        "the rule 'a' exempts nothing: no other rule speaks of these kinds"
    ]


def test_an_exception_that_is_too_wide_says_in_which_condition() -> None:
    assert (told(rule("a", "allow"), rule("b", "block", "pii.card", routes="chat"))) == [
        "the rule 'a' exempts nothing: it is wider than 'b' in kinds and routes"
    ]


def test_an_exception_inside_a_rule_is_fine() -> None:
    assert told(rule("a", "allow", "pii.card"), rule("b", "block")) == []
