"""Decisions: which rule wins, what an exception reaches, what a policy tells of itself."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.examples import (
    ANSWER,
    INPUT,
    KINDS,
    OUTPUT,
    TOOL,
    USER,
    finding,
    policy,
    rule,
)

from tidegate.detectors import Source, Trust
from tidegate.policies import Action, Decision, Direction, Facts, Hit
from tidegate.policies import policy as policy_module
from tidegate.policies.rule import Rule


def test_without_findings_nothing_is_done() -> None:
    assert Decision(Action.ALLOW) == policy(rule("r", "block")).decide(INPUT, [])


def test_a_finding_no_rule_speaks_of_is_let_through_without_a_hit() -> None:
    assert Decision(Action.ALLOW) == (
        policy(rule("r", "block", "secret.*")).decide(INPUT, [(USER, finding())])
    )


def test_the_strictest_finding_decides_and_each_has_its_hit() -> None:
    tested = policy(rule("mask", "redact", "pii.*"), rule("stop", "block", "secret.*"))
    mail, token, override = finding(), finding("secret.jwt"), finding("injection.override")
    decision = tested.decide(INPUT, [(USER, mail), (TOOL, token), (USER, override)])

    assert Action.BLOCK is decision.action
    assert (
        Hit("mask", Action.REDACT, USER, mail),
        Hit("stop", Action.BLOCK, TOOL, token),
    ) == decision.hits


def test_the_strictest_rule_wins_whatever_the_order() -> None:
    rules = [
        rule("a", "flag"),
        rule("b", "redact", "pii.email"),
        rule("c", "block", min_score=0.8),
        rule("d", "allow", "pii.email", trust="operator"),
    ]
    answers = {
        (policy(*ordered).action(INPUT, USER, finding()), policy(*ordered).digest)
        for ordered in itertools.permutations(rules)
    }

    assert {(Action.BLOCK, "c")} == {answer for answer, _ in answers}
    assert len(answers) == 1


def test_the_score_chooses_between_rules() -> None:
    tested = policy(rule("high", "block", min_score=0.8), rule("low", "flag"))

    assert tested.action(INPUT, USER, finding(score=0.8)) == (Action.BLOCK, "high")
    assert tested.action(INPUT, USER, finding(score=0.79)) == (Action.FLAG, "low")


def test_among_equal_actions_the_narrower_rule_speaks_then_the_smaller_id() -> None:
    tested = policy(
        rule("a-wide", "redact"),
        rule("z-narrow", "redact", "pii.card"),
        rule("b-other", "redact", "pii.email", trust="caller"),
        rule("a-other", "redact", "pii.email", sources="user"),
    )

    assert tested.action(INPUT, USER, finding("pii.card"))[1] == "z-narrow"
    assert tested.action(INPUT, USER, finding("pii.email"))[1] == "a-other"


def test_an_exception_with_a_narrower_match_exempts() -> None:
    tested = policy(
        rule("mask", "redact"), rule("but", "allow", "pii.email", routes="chat", min_score=0.5)
    )

    assert tested.action(INPUT, USER, finding(score=0.5)) == (Action.ALLOW, "but")
    assert tested.action(INPUT, USER, finding(score=0.4)) == (Action.REDACT, "mask")
    assert tested.action(INPUT, USER, finding("pii.card")) == (Action.REDACT, "mask")
    assert (tested.action(Facts(Direction.INPUT, "other"), USER, finding())) == (
        Action.REDACT,
        "mask",
    )


def test_an_exception_that_is_wider_in_one_condition_leaves_the_rule_alone() -> None:
    tested = policy(
        rule("mask", "redact"),
        rule("stop", "block", "pii.*", trust="third_party"),
        rule("but", "allow", "pii.email"),  # wider than "stop" in trust
    )

    assert tested.action(INPUT, TOOL, finding()) == (Action.BLOCK, "stop")
    assert tested.action(INPUT, USER, finding()) == (Action.ALLOW, "but")


def test_an_exception_can_leave_a_milder_rule_standing() -> None:
    tested = policy(
        rule("stop", "block"),
        rule("note", "flag", "pii.email", trust="caller", sources="user"),
        rule("but", "allow", "pii.email", trust="caller"),
    )

    assert tested.action(INPUT, USER, finding()) == (Action.FLAG, "note")


def test_an_exempted_finding_is_a_hit_with_allow() -> None:
    tested = policy(rule("mask", "redact"), rule("but", "allow", "pii.email"))
    mail = finding()

    assert Decision(Action.ALLOW, (Hit("but", Action.ALLOW, USER, mail),)) == (
        tested.decide(INPUT, [(USER, mail)])
    )


def test_an_exception_with_no_rule_around_it_says_nothing_stricter() -> None:
    assert (policy(rule("but", "allow", "pii.email")).action(INPUT, USER, finding())) == (
        Action.ALLOW,
        "but",
    )


def test_a_kind_that_no_registry_knows_is_not_let_through() -> None:
    assert Action.BLOCK is policy(rule("r", "block")).action(INPUT, USER, finding("pii.new"))[0]


def test_answers_are_the_same_when_no_more_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_module, "MOST_LADDERS", 1)
    tested = policy(rule("r", "block"))
    first = [tested.action(INPUT, segment, finding()) for segment in (USER, TOOL)]

    assert first == [tested.action(INPUT, segment, finding()) for segment in (USER, TOOL)]
    assert len(tested._ladders) == 1


RULES = st.builds(
    rule,
    st.sampled_from("abcdef"),
    st.sampled_from(["allow", "flag", "redact", "block"]),
    st.sampled_from(["*", "pii.*", "pii.email", "secret.*"]),
    direction=st.sampled_from(["input", "output", "both"]),
    trust=st.sampled_from(["caller", "third_party", ["caller", "model"]]),
    routes=st.sampled_from(["*", "chat", "c*"]),
    min_score=st.sampled_from([0.0, 0.5, 0.9]),
)


def plainly(rules: list[Rule], facts: Facts, trust: Trust, found: tuple[str, float]) -> Action:
    """What docs/policies.md says, word for word and slowly."""
    kind, score = found
    matching = [
        r for r in rules if r.applies_to(facts, kind, trust, Source.USER) and score >= r.min_score
    ]
    allows = [r for r in matching if r.action is Action.ALLOW]
    acting = [r for r in matching if not any(r.contains(a) for a in allows)]
    return max((r.action for r in acting), default=Action.ALLOW)


@given(
    st.lists(RULES, max_size=6, unique_by=lambda r: r.id),
    st.sampled_from([INPUT, OUTPUT, Facts(Direction.INPUT, "other")]),
    st.sampled_from([Trust.CALLER, Trust.THIRD_PARTY]),
    st.tuples(st.sampled_from(KINDS), st.sampled_from([0.1, 0.5, 0.7, 1.0])),
)
def test_ladders_answer_as_the_rules_read(
    rules: list[Rule], facts: Facts, trust: Trust, found: tuple[str, float]
) -> None:
    segment = type(USER)(USER.text, USER.where, Source.USER, trust)
    action, name = policy(*rules).action(facts, segment, finding(*found))

    assert plainly(rules, facts, trust, found) is action
    assert not name or action is {r.id: r.action for r in rules}[name]


def test_the_kinds_of_a_direction_are_those_a_rule_can_act_on() -> None:
    tested = policy(
        rule("a", "flag", "injection.*", direction="input"),
        rule("b", "redact", "secret.*", direction="output"),
        rule("c", "flag", "pii.email"),
        rule("d", "allow", "pii.card"),
    )

    assert {"injection.override", "pii.email"} == tested.kinds(Direction.INPUT)
    assert {"secret.jwt", "pii.email"} == tested.kinds(Direction.OUTPUT)
    assert {"secret.jwt"} == tested.kinds(Direction.OUTPUT, Action.REDACT)
    assert set() == tested.kinds(Direction.INPUT, Action.REDACT)


def test_a_policy_tells_masks_reasons_messages_and_rules() -> None:
    tested = policy(rule("b", "redact"), rule("a", "flag"), on_error=Action.ALLOW)

    assert tested.mask("b", "pii.email") == "[EMAIL]"
    assert tested.reason("b") == "b says so"
    assert tested.message(Direction.INPUT) == "no input"
    assert tested.message(Direction.OUTPUT) == "no output"
    assert [r.id for r in tested.rules] == ["a", "b"]
    assert (tested.name, tested.on_error) == ("p", Action.ALLOW)


def test_the_explanation_speaks_of_every_rule_strictest_first() -> None:
    tested = policy(
        rule("stop", "block", trust="operator"),
        rule("mask", "redact"),
        rule("but", "allow", "pii.email"),
    )
    told = tested.explain(INPUT, USER, finding())

    assert [(e.rule, e.matched, e.decided, e.because) for e in told] == [
        ("stop", False, False, "it does not speak of input from caller in user"),
        ("mask", True, False, "exempted by but"),
        ("but", True, True, "but says so"),
    ]


def test_the_digest_is_hex_and_depends_on_the_rules() -> None:
    one, other = policy(rule("a", "flag")), policy(rule("a", "block"))

    assert len(one.digest) == 64
    assert int(one.digest, 16) >= 0
    assert one.digest != other.digest
    assert one.digest != policy(rule("a", "flag"), on_error=Action.ALLOW).digest
    assert one.digest == policy(rule("a", "flag")).digest


def test_the_model_s_answer_is_judged_as_output() -> None:
    tested = policy(rule("out", "redact", direction="output", trust="model"))

    assert tested.action(OUTPUT, ANSWER, finding()) == (Action.REDACT, "out")
    assert tested.action(INPUT, USER, finding()) == (Action.ALLOW, "")
