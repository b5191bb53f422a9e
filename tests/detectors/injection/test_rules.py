import re2

from tidegate.detectors.injection import REASONS, RULES
from tidegate.detectors.kinds import KINDS


def test_every_rule_has_its_own_id_a_known_kind_and_a_score() -> None:
    assert len(RULES) == len({rule.id for rule in RULES})
    assert {rule.kind for rule in RULES} <= set(KINDS)
    assert all(0 < rule.score <= 1 for rule in RULES)


def test_every_rule_is_linear_and_matches_something_only() -> None:
    for rule in RULES:
        compiled = re2.compile(rule.pattern)

        assert compiled.search("") is None
        assert compiled.search("An ordinary sentence about nothing in particular.") is None


def test_every_rule_has_a_reason_for_a_person() -> None:
    assert all(REASONS[rule.id] == rule.reason for rule in RULES)
    assert REASONS["marker.unicode_tags"] == "smuggles text in Unicode tags"
