from tidegate.detectors import Trust
from tidegate.detectors.injection.rule import CALLER_AND_BELOW, THIRD_PARTY_ONLY, Rule


def test_rule_is_asked_of_everybody_but_the_operator_unless_it_says_otherwise() -> None:
    rule = Rule("a.b", "injection.override", "en", "x", 0.5, "says x")

    assert rule.trusts == CALLER_AND_BELOW
    assert frozenset(Trust) - {Trust.OPERATOR} == CALLER_AND_BELOW
    assert THIRD_PARTY_ONLY < CALLER_AND_BELOW
