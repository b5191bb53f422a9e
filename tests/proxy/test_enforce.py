import json
from typing import Any

import pytest
from tests.proxy.exchanges import policy, text

from tidegate.detectors import Finding, Segment, Source
from tidegate.policies import Action, Hit, Policy
from tidegate.policies.document import RuleText
from tidegate.policies.policy import Manners
from tidegate.policies.rule import from_text
from tidegate.proxy.dialects.base import NAMES
from tidegate.proxy.enforce import masked, redact, redacted, refusal
from tidegate.proxy.errors import Refused

POLICY = policy(key="redact", ssn="redact", bomb="block", word="flag")


def hit(
    segment: Segment, start: int, end: int, kind: str = "key", action: Action = Action.REDACT
) -> Hit:
    finding = Finding(f"test.{kind}", start, end, 0.9, kind)
    return Hit(f"{kind}-{action.name.lower()}", action, segment, finding)


def quoting() -> Policy:
    document = {
        "id": "key-redact",
        "kinds": "test.key",
        "action": "redact",
        "reason": "r",
        "replacement": 'a "key"\\',
    }
    rule = from_text(RuleText.model_validate(document), ["test.key"])
    return Policy("p", [rule], Manners(Action.BLOCK, "", ""))


def test_texts_are_set_at_their_places() -> None:
    tree: dict[str, Any] = {"a": [{"b": "c"}, "d"], "e": "f"}
    redact(tree, {("a", 0, "b"): "C", ("a", 1): "D"})

    assert tree == {"a": [{"b": "C"}, "D"], "e": "f"}


@pytest.mark.parametrize(
    ("where", "param"), [(("a", 0, NAMES), "a[0]"), (("a", NAMES), "a"), ((NAMES,), None)]
)
def test_names_of_members_are_refused_where_they_would_be_redacted(
    where: tuple[str | int, ...], param: str | None
) -> None:
    tree: dict[str, Any] = {"a": [{"sk-abcdef": "x"}]}

    with pytest.raises(Refused, match="name of a member") as caught:
        redact(tree, {("a", 0, "sk-abcdef"): "y", where: "[KEY]"})
    assert (caught.value.code, caught.value.param) == ("content_filter", param)
    assert tree == {"a": [{"sk-abcdef": "x"}]}


def test_a_redacted_text_loses_the_found_spans_only() -> None:
    segment = text("one sk-abcdef two 078-05-1120")

    assert {segment.where: "one [KEY] two [SSN]"} == redacted(
        [hit(segment, 18, 29, "ssn"), hit(segment, 4, 13)], POLICY
    )


def test_only_hits_to_redact_change_a_text() -> None:
    segment, other = text("abc", "a"), text("abc", "b")
    hits = [
        hit(segment, 0, 1, "word", Action.FLAG),
        hit(segment, 1, 2, "word", Action.ALLOW),
        hit(other, 1, 2),
    ]

    assert redacted(hits, POLICY) == {("b",): "a[KEY]c"}
    assert redacted(hits[:2], POLICY) == {}


@pytest.mark.parametrize(
    ("spans", "left"),
    [
        ([(0, 4), (2, 6)], "[KEY]6789"),
        ([(2, 6), (0, 4)], "[KEY]6789"),
        ([(0, 6), (2, 4)], "[KEY]6789"),
        ([(0, 4), (0, 6)], "[KEY]6789"),
        ([(0, 4), (2, 6), (5, 8)], "[KEY]89"),
        ([(0, 4), (4, 6)], "[KEY][KEY]6789"),
        ([(0, 10)], "[KEY]"),
    ],
)
def test_overlapping_spans_become_one_mask(spans: list[tuple[int, int]], left: str) -> None:
    segment = text("0123456789")

    assert [left] == list(redacted([hit(segment, *s) for s in spans], POLICY).values())


def test_a_mask_in_tool_arguments_keeps_them_json() -> None:
    arguments = '{"q":"sk-abcdef"}'
    segment = text(arguments, "args", source=Source.TOOL_CALL)
    changed = redacted([hit(segment, 6, 15)], quoting())[("args",)]

    assert json.loads(changed) == {"q": 'a "key"\\'}
    assert masked(quoting(), "key-redact", "test.key", Source.USER) == 'a "key"\\'


def test_a_refusal_names_rules_kinds_and_the_first_place() -> None:
    first, second = text("SECRET 1", "messages", 3, "content"), text("SECRET 2", "prompt")
    hits = [
        hit(second, 0, 3, "word", Action.FLAG),
        hit(first, 0, 3, "bomb", Action.BLOCK),
        hit(second, 0, 3, "key", Action.BLOCK),
        hit(second, 4, 6, "bomb", Action.BLOCK),
    ]
    refused = refusal(hits, "no input")

    assert (refused.code, refused.message, refused.status) == ("content_filter", "no input", 400)
    assert refused.param == "messages[3].content"
    assert refused.details == {
        "innererror": {
            "code": "policy_violation",
            "rules": ["bomb-block", "key-block"],
            "kinds": ["test.bomb", "test.key"],
        }
    }


def test_a_refusal_without_a_place_names_none() -> None:
    assert refusal([], "no input").param is None
