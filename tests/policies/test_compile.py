"""From text to policy: each stage's mistakes, and what the digest depends on."""

import textwrap
from pathlib import Path

import pytest
from tests.policies.examples import INPUT, KINDS, USER, finding

from tidegate.policies import Action, Compiled, Direction, PolicyError, compile_policy
from tidegate.policies.compile import STAGES

RULE = "- {id: r, kinds: pii.*, action: redact, reason: why}"


def compiled(rules: str = RULE, rest: str = "") -> Compiled:
    return compile_policy(f"version: 1\nname: p\nrules:\n{rules}\n{rest}", "p.yaml", KINDS)


def mistakes(rules: str = RULE, rest: str = "") -> list[str]:
    with pytest.raises(PolicyError) as caught:
        compiled(rules, rest)
    return [str(problem) for problem in caught.value.problems]


def test_the_stages_stand_in_order() -> None:
    assert list(STAGES) == ["parse", "validate", "resolve", "check", "index"]


def test_a_file_becomes_a_policy_and_its_tests() -> None:
    made = compiled(rest="on_error: allow\nmessages: {input: stop}\n"
                         "tests: [{name: n, text: t, expect: allow}]")  # fmt: skip

    assert made.policy.action(INPUT, USER, finding()) == (Action.REDACT, "r")
    assert (made.policy.name, made.policy.on_error) == ("p", Action.ALLOW)
    assert made.policy.message(Direction.INPUT) == "stop"
    assert [case.name for case in made.cases] == ["n"]


def test_broken_yaml_is_reported() -> None:
    [found] = mistakes("- [")

    assert "this is not valid YAML" in found


def test_mistakes_of_shape_and_unknown_kinds_come_together() -> None:
    found = mistakes(
        "- {id: a, kinds: [pii.crad], action: flag, reason: x}\n"
        "- {id: b, kinds: [pii.card], action: drop, raeson: x}\n"
    )

    assert found == [
        (
            "p.yaml:4:19: 'pii.crad' names no kind of finding, no detector reports it,"
            " did you mean 'pii.card'?"
        ),
        "p.yaml:5:3: rules[1].reason is missing, it has no default, add `reason:`",
        (
            "p.yaml:5:38: rules[1].action is 'drop', it must be 'allow', 'flag', 'redact' or"
            " 'block', use one of them"
        ),
        (
            "p.yaml:5:44: rules[1].raeson is unknown, rules[1] has no such key, did you mean"
            " 'reason'?"
        ),
    ]


@pytest.mark.parametrize("text", ["", "5", "[]", "rules: 5"])
def test_a_file_of_another_shape_is_reported(text: str) -> None:
    with pytest.raises(PolicyError):
        compile_policy(text, "p.yaml", KINDS)


def test_unknown_kinds_are_reported_with_the_nearest() -> None:
    assert mistakes("- {id: a, kinds: pi.*, action: flag, reason: x}") == [
        (
            "p.yaml:4:18: 'pi.*' names no kind of finding, no detector reports it, did you mean"
            " 'pii.*'?"
        )
    ]


def test_an_id_that_stands_twice_is_reported_with_its_first_line() -> None:
    [found] = mistakes(f"{RULE}\n- {{id: r, kinds: secret.*, action: flag, reason: x}}")

    assert (
        found == "p.yaml:5:8: the rule 'r' is defined twice, it is already on line 4, rename one"
    )


def test_a_test_that_names_no_rule_is_reported() -> None:
    [found] = mistakes(rest="tests: [{name: n, text: t, expect: flag, rule: rr}]")

    assert found == "p.yaml:5:48: there is no rule 'rr', a test names it, did you mean 'r'?"


def test_replacements_are_checked() -> None:
    found = mistakes(
        '- {id: a, kinds: pii.card, action: flag, reason: x, replacement: "[x]"}\n'
        '- {id: b, kinds: pii.email, action: redact, reason: x, replacement: "{no}\\n"}\n'
    )

    assert "p.yaml:4:66: rule 'a' has a replacement and the action flag" in found[0]
    assert "p.yaml:5:69: the replacement holds '{no}'" in found[1]
    assert "p.yaml:5:69: the replacement holds a control character" in found[2]


def test_the_score_can_be_said_as_one_in_so_many_benign_texts() -> None:
    made = compiled("- {id: a, kinds: pii.*, action: flag, reason: x, one_in: 1000}")
    [found] = mistakes(
        "- {id: a, kinds: pii.*, action: flag, reason: x, one_in: 100, min_score: 0.5}"
    )

    assert made.policy.rules[0].min_score == 0.75
    assert found.startswith("p.yaml:4:50: rule 'a' has min_score and one_in, both say")


def test_contradictory_rules_are_reported_and_not_called_useless_too() -> None:
    [found] = mistakes(f"{RULE}\n- {{id: s, kinds: pii.*, action: block, reason: x}}")

    assert found.startswith("p.yaml:5:33: the rules 'r' and 's' contradict each other")


def test_useless_rules_are_reported() -> None:
    [found] = mistakes(f"{RULE}\n- {{id: s, kinds: pii.card, action: flag, reason: x}}")

    assert found.startswith("p.yaml:5:3: the rule 's' never decides")


def test_the_digest_ignores_comments_order_and_tests() -> None:
    second = "- {id: s, kinds: secret.*, action: block, reason: x}"
    digest = compiled(f"{RULE}\n{second}").policy.digest

    assert digest == (
        compiled(
            f"# why\n{second}\n{RULE}", "tests: [{name: n, text: t, expect: allow}]"
        ).policy.digest
    )
    assert digest != compiled(RULE).policy.digest


def test_the_digest_depends_on_the_known_kinds() -> None:
    text = f"version: 1\nname: p\nrules:\n{RULE}\n"

    assert (
        compile_policy(text, "f", KINDS).policy.digest
        != compile_policy(text, "f", (*KINDS, "pii.new")).policy.digest
    )


def test_the_example_in_the_documentation_compiles() -> None:
    page = (Path(__file__).parents[2] / "docs" / "policies.md").read_text("utf-8")
    example = page.partition("## A file\n")[2].partition("\n| Key")[0]
    made = compile_policy(textwrap.dedent(example), "docs/policies.md", KINDS)

    assert [rule.id for rule in made.policy.rules] == ["mask-cards"]
