"""Rules, findings and texts that several tests of policies use."""

import re
from collections.abc import Iterable

from tidegate.detectors import Finding, Segment, Source, Trust
from tidegate.policies import Action, Direction, Facts, Kinds, Policy
from tidegate.policies.document import RuleText
from tidegate.policies.policy import Manners
from tidegate.policies.rule import Rule, from_text

KINDS = ("injection.override", "pii.card", "pii.email", "secret.jwt")
INPUT = Facts(Direction.INPUT, "chat")
OUTPUT = Facts(Direction.OUTPUT, "chat")
USER = Segment("x" * 40, ("messages", 0, "content"), Source.USER, Trust.CALLER)
TOOL = Segment("x" * 40, ("messages", 1, "content"), Source.TOOL_RESULT, Trust.THIRD_PARTY)
ANSWER = Segment("x" * 40, ("choices", 0), Source.ASSISTANT, Trust.MODEL)


def rule(rule_id: str, action: str, kinds: str = "pii.*", **conditions: object) -> Rule:
    text = {"id": rule_id, "kinds": kinds, "action": action, "reason": f"{rule_id} says so"}
    return from_text(RuleText.model_validate(text | conditions), KINDS)


def policy(*rules: Rule, on_error: Action = Action.BLOCK) -> Policy:
    return Policy("p", rules, Manners(on_error, "no input", "no output"))


def finding(kind: str = "pii.email", score: float = 0.9) -> Finding:
    return Finding(kind, 0, 5, score, "made-up")


_WORDS = {"mail": "pii.email", "card": "pii.card", "attack": "injection.override"}


FOLLOWED = ("pii.card", "pii.email", "secret.jwt")
"""The kinds that are found in answers."""
ALL = Kinds(KINDS, KINDS, FOLLOWED)


def find(segment: Segment, direction: Direction) -> list[Finding]:
    """Find the words above; an exclamation mark raises the score from 0.5 to 0.9."""
    found = _found(segment.text)
    return [f for f in found if direction is Direction.INPUT or f.kind in FOLLOWED]


def _found(text: str) -> Iterable[Finding]:
    for match in re.finditer(r"(mail|card|attack)(!?)", text):
        score = 0.9 if match[2] else 0.5
        yield Finding(_WORDS[match[1]], match.start(), match.end(), score, "made-up")
