from dataclasses import FrozenInstanceError
from itertools import pairwise

import pytest

from tidegate.detectors import Finding, Segment, Source, Trust
from tidegate.policies.decision import Action, Decision, Direction, Facts, Hit

SEGMENT = Segment("text", ("prompt",), Source.USER, Trust.CALLER)
FINDING = Finding("pii.email", 0, 4, 0.9, "rule")


def test_a_stricter_action_is_the_larger_one() -> None:
    order = [Action.ALLOW, Action.FLAG, Action.REDACT, Action.BLOCK]

    assert all(a < b for a, b in pairwise(order))
    assert max(order) is Action.BLOCK
    assert not Action.ALLOW


def test_directions_are_named_as_policies_name_them() -> None:
    assert list(Direction) == ["input", "output"]


def test_what_is_not_known_of_an_exchange_is_empty() -> None:
    facts = Facts(Direction.INPUT, "route")

    assert (facts.tenant, facts.principal) == ("", "")


def test_a_decision_without_findings_has_no_hits() -> None:
    assert Decision(Action.ALLOW).hits == ()


@pytest.mark.parametrize(
    ("made", "member"),
    [
        (Facts(Direction.INPUT, "route"), "route"),
        (Hit("rule", Action.FLAG, SEGMENT, FINDING), "action"),
        (Decision(Action.BLOCK), "action"),
    ],
)
def test_what_was_decided_does_not_change(made: object, member: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(made, member, None)
