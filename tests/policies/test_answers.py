import pytest
from tests.policies.examples import ALL, KINDS

from tidegate.policies import Kinds, compile_policy, unseen

HEAD = "version: 1\nname: p\nrules:\n"


def told(rule: str, kinds: Kinds = ALL, *, grave: bool = True) -> list[str]:
    """What is said, as a mistake or as a warning, of one rule on line 4."""
    compiled = compile_policy(f"{HEAD}  - {{id: a, reason: x, {rule}}}", "p.yaml", KINDS)
    return [str(found.problem) for found in unseen(compiled, kinds) if found.grave is grave]


@pytest.mark.parametrize("action", ["redact", "block"])
def test_a_rule_for_kinds_that_answers_are_not_searched_for_is_told_with_its_place(
    action: str,
) -> None:
    assert told(f"action: {action}, kinds: injection.*, direction: output") == [
        (
            f"p.yaml:4:{41 + len(action)}: the rule 'a' is for injection.override in answers,"
            " no pattern finds these kinds there, so it would never fire, name only kinds that"
            " are found in answers, or remove the rule"
        )
    ]


@pytest.mark.parametrize(
    ("conditions", "remedy"),
    [
        ("kinds: injection.*", "write direction: input"),
        (
            "kinds: [injection.override, pii.*], trust: model",
            "write direction: input, and a rule for the other kinds in answers",
        ),
    ],
)
def test_the_remedy_is_by_what_else_the_rule_is_for(conditions: str, remedy: str) -> None:
    [problem] = told(f"action: block, {conditions}")

    assert problem.endswith(f"never fire, {remedy}")


def test_further_kinds_are_counted() -> None:
    kinds = ALL._replace(followed=("pii.email",))
    [problem] = told('action: block, kinds: "*"', kinds, grave=False)

    assert "the rule 'a' is for injection.override and 2 more in answers" in problem


@pytest.mark.parametrize(
    "rule",
    [
        "action: block, kinds: injection.*, direction: input",
        "action: block, kinds: injection.*, trust: [caller, third_party]",
        "action: block, kinds: [pii.*, secret.*]",
        "action: flag, kinds: injection.*",
    ],
)
def test_other_rules_are_not_told(rule: str) -> None:
    assert told(rule) == []


@pytest.mark.parametrize(
    "rule", ["action: flag, kinds: injection.*", "action: block, kinds: [pii.*, injection.*]"]
)
def test_a_rule_that_only_notes_or_names_the_kind_by_a_glob_is_warned_of(rule: str) -> None:
    [warning] = told(rule, grave=False)

    assert "is for injection.override in answers" in warning


def test_a_kind_that_is_named_and_that_no_detector_in_use_reports_is_warned_of() -> None:
    used = ALL._replace(reported=("pii.email",))
    named = told("action: block, kinds: [injection.override, secret.jwt]", used, grave=False)
    by_glob = "action: block, kinds: injection.*"

    assert [warning.split(", ")[:2] for warning in named] == [
        [
            "p.yaml:4:46: the rule 'a' is for injection.override and 1 more",
            "no detector that is used reports it",
        ]
    ]
    assert told(by_glob, used) + told(by_glob, used, grave=False) == []
