import pytest
from tests.policies.examples import FOLLOWED, KINDS

from tidegate.policies import Action, compile_policy, unseen

ACTIONS = (Action.REDACT, Action.BLOCK)
HEAD = "version: 1\nname: p\nrules:\n"


def told(rule: str, *actions: Action) -> list[str]:
    """What is said of one rule on line 4 whose action is one of these, or redact or block."""
    compiled = compile_policy(f"{HEAD}  - {{id: a, reason: x, {rule}}}", "p.yaml", KINDS)
    return [str(problem) for problem in unseen(compiled, FOLLOWED, actions or ACTIONS)]


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
            "kinds: [injection.*, pii.*], trust: model",
            "write direction: input, and a rule for the other kinds in answers",
        ),
    ],
)
def test_the_remedy_is_by_what_else_the_rule_is_for(conditions: str, remedy: str) -> None:
    [problem] = told(f"action: block, {conditions}")

    assert problem.endswith(f"never fire, {remedy}")


def test_further_kinds_are_counted() -> None:
    compiled = compile_policy(
        f'{HEAD}  - {{id: a, reason: x, action: block, kinds: "*"}}', "p.yaml", KINDS
    )
    [problem] = unseen(compiled, ("pii.email",), ACTIONS)

    assert problem.what == "the rule 'a' is for injection.override and 2 more in answers"


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


def test_other_actions_can_be_asked_for() -> None:
    assert len(told("action: flag, kinds: injection.*", Action.FLAG)) == 1
