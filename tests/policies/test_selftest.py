"""The tests a policy file brings along."""

import pytest
from tests.policies.examples import ALL, INPUT, USER, find, finding

from tidegate.detectors import Source
from tidegate.policies import Action, PolicyError, load_policy
from tidegate.policies.selftest import TRUST

HEAD = """version: 1
name: p
rules:
  - {id: mask, kinds: pii.*, action: redact, reason: x, direction: input}
  - {id: stop, kinds: injection.*, action: block, reason: x, trust: third_party, min_score: 0.8}
tests:
"""


def failed(*tests: str) -> list[str]:
    text = HEAD + "".join(f"  - {test}\n" for test in tests)
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "p.yaml", ALL, find)
    return [str(problem) for problem in caught.value.problems]


def test_a_file_whose_tests_hold_is_loaded() -> None:
    text = (
        HEAD
        + """
  - {name: a, text: my mail, expect: redact, rule: mask}
  - {name: b, text: attack!, source: document, expect: block, rule: stop}
  - {name: c, text: attack!, expect: allow}
  - {name: d, text: attack!, trust: third_party, expect: block}
  - {name: e, text: my mail, direction: output, expect: allow}
"""
    )

    loaded = load_policy(text, "f", ALL, find)

    assert Action.REDACT is loaded.policy.action(INPUT, USER, finding())[0]
    assert len(loaded.cases) == 5


def test_every_source_has_a_trust() -> None:
    assert set(Source) == set(TRUST)


def test_each_failed_test_is_reported_with_the_answer() -> None:
    assert failed(
        "{name: a, text: mail card!, expect: block}",
        "{name: b, text: nothing, expect: flag, rule: mask}",
    ) == [
        (
            "p.yaml:7:41: the test 'a' expects block, the answer is redact by mask for"
            " pii.email (0.5) and pii.card (0.9), correct the rules or the test"
        ),
        (
            "p.yaml:8:38: the test 'b' expects flag by mask, the answer is allow because"
            " nothing was found, correct the rules or the test"
        ),
    ]


def test_a_test_of_an_answer_finds_what_answers_are_searched_for() -> None:
    [found] = failed(
        "{name: a, text: attack!, trust: third_party, direction: output, expect: block}"
    )

    assert "the answer is allow because nothing was found" in found


def test_a_rule_that_acts_on_what_answers_are_not_searched_for_is_a_mistake() -> None:
    text = HEAD.replace(", trust: third_party", "")
    with pytest.raises(PolicyError, match="'stop' is for injection"):
        load_policy(text + "  []", "p.yaml", ALL, find)
    flagged = load_policy(text.replace("block", "flag") + "  []", "p.yaml", ALL, find)

    assert flagged.cases == ()


def test_the_rule_must_be_behind_the_answer() -> None:
    [found] = failed("{name: a, text: mail, expect: redact, rule: stop}")

    assert "expects redact by stop, the answer is redact by mask" in found


def test_a_failure_does_not_quote_the_text() -> None:
    [found] = failed("{name: a, text: confidential mail, expect: block}")

    assert "confidential" not in found


def test_a_file_that_does_not_compile_is_not_tested() -> None:
    with pytest.raises(PolicyError, match="names no kind"):
        load_policy(HEAD.replace("pii.*", "x.*"), "p.yaml", ALL, find)


def test_tests_of_rules_for_detectors_that_are_not_used_are_left_out() -> None:
    test = "{name: a, text: nothing, source: document, expect: block, rule: stop}"
    used = ALL._replace(reported=("pii.email",))
    loaded = load_policy(f"{HEAD}  - {test}\n", "p.yaml", used, find)

    assert len(loaded.cases) == 1
    assert len(failed(test)) == 1
