"""The policy file's shape."""

import pytest
from pydantic import ValidationError

from tidegate.detectors import Source
from tidegate.policies.document import Case, RuleText

RULE = {"id": "r", "kinds": "pii.*", "action": "flag", "reason": "why"}


def test_one_kind_needs_no_brackets() -> None:
    rule = RuleText.model_validate(RULE | {"trust": "caller", "sources": "user", "routes": "a-*"})

    assert rule.kinds == ("pii.*",)
    assert (rule.trust, rule.sources, rule.routes) == (("caller",), (Source.USER,), ("a-*",))


def test_a_rule_without_conditions_speaks_of_everything() -> None:
    rule = RuleText.model_validate(RULE)

    assert ("both", tuple(Source), ("*",), 0.0) == (
        rule.direction,
        rule.sources,
        rule.routes,
        rule.min_score,
    )
    assert rule.trust == ("third_party", "model", "caller", "operator")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "a b"},
        {"id": "ä"},
        {"id": ""},
        {"id": 5},
        {"kinds": []},
        {"kinds": ["pii.?"]},
        {"kinds": 5},
        {"trust": []},
        {"trust": "root"},
        {"sources": "elsewhere"},
        {"routes": "a[b]"},
        {"min_score": 1.1},
        {"one_in": 0.5},
        {"one_in": 20_000},
        {"min_score": "nan"},
        {"action": "drop"},
        {"reason": ""},
        {"more": 1},
    ],
)
def test_a_rule_with_a_mistake_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RuleText.model_validate(RULE | change)


def test_a_case_is_by_default_what_a_caller_sends() -> None:
    case = Case.model_validate({"name": "n", "text": "t", "expect": "allow"})

    assert (
        case.source,
        case.trust,
        case.direction,
        case.route,
    ) == (Source.USER, None, "input", "")
