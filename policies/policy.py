"""The compiled policy: asked for each finding, it answers with an action and the rule behind it.

How the rules combine, whatever their order in the file:

* the strictest action of all rules that match a finding wins;
* except that an `allow` rule which matches exempts the finding from every rule whose match
  contains its own.  An `allow` that is wider than another rule in any condition leaves that
  rule alone, so that nobody switches off more than he wrote down;
* between rules of the same action the narrower one speaks, then the smaller id.

For each combination of route, direction, kind, trust and source this comes down to a few score
ranges (a ladder), made when it is first asked for and kept.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..detectors import Finding, Segment, Source, Trust
from .decision import Action, Decision, Direction, Facts, Hit
from .rule import Rule, cells

MOST_LADDERS = 65_536
"""Kept combinations.  All parts of the key come from the configuration and the detectors, not
from callers; the limit is there in case that ever changes."""

_NOTHING = Decision(Action.ALLOW)

_Key = tuple[str, Direction, str, Trust, Source]
_Step = tuple[float, float, Action, str]
"""From this score up to below that score, this action by that rule."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one rule says about one finding, and whether it had the last word."""

    rule: str
    action: Action
    matched: bool
    decided: bool
    because: str


@dataclass(frozen=True, slots=True)
class Manners:
    """How the policy behaves besides its rules."""

    on_error: Action
    """BLOCK, FLAG or ALLOW: what to do with a text that could not be inspected."""
    input_message: str
    output_message: str


class Policy:
    """Rules compiled for lookup; nothing about its answers ever changes."""

    def __init__(self, name: str, rules: Iterable[Rule], manners: Manners) -> None:
        listed = sorted(rules, key=lambda rule: rule.id)
        self.name = name
        self.on_error = manners.on_error
        self.digest = _digest(name, listed, manners)
        self._messages = (manners.input_message, manners.output_message)
        self._rules: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in listed})
        self._ordered = _ordered(listed)
        self._exempted_by = _exemptions(listed)
        self._ladders: dict[_Key, tuple[_Step, ...]] = {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, by id."""
        return tuple(self._rules.values())

    def message(self, direction: Direction) -> str:
        """What to tell a client whose text in this direction was blocked."""
        return self._messages[direction is Direction.OUTPUT]

    def kinds(self, direction: Direction, at_least: Action = Action.FLAG) -> frozenset[str]:
        """The kinds that a rule of this direction can act on with at least this action.

        With REDACT: what a stream must be held back for.
        """
        asked = cells(direction)
        rules = (r for r in self._rules.values() if r.action >= at_least and r.cells & asked)
        return frozenset[str]().union(*(rule.kinds for rule in rules))

    def decide(self, facts: Facts, found: Iterable[tuple[Segment, Finding]]) -> Decision:
        """The strictest action that any finding calls for; a hit for each finding a rule spoke of.

        A finding that an `allow` rule exempted is a hit with ALLOW, so that records show it.
        """
        hits: list[Hit] = []
        strictest = Action.ALLOW
        for segment, finding in found:
            action, rule = self.action(facts, segment, finding)
            if rule:
                hits.append(Hit(rule, action, segment, finding))
                strictest = max(strictest, action)
        return Decision(strictest, tuple(hits)) if hits else _NOTHING

    def action(self, facts: Facts, segment: Segment, finding: Finding) -> tuple[Action, str]:
        """The action for one finding and the id of the rule that says so; (ALLOW, "") if none."""
        key = (facts.route, facts.direction, finding.kind, segment.trust, segment.source)
        ladder = self._ladders.get(key)
        if ladder is None:
            ladder = self._ladder(facts, finding.kind, segment.trust, segment.source)
            if len(self._ladders) < MOST_LADDERS:
                self._ladders[key] = ladder
        score = finding.score
        for low, high, action, rule in ladder:
            if low <= score < high:
                return action, rule
        return Action.ALLOW, ""

    def mask(self, rule: str, kind: str) -> str:
        """What stands in place of a finding of this kind that this rule redacts."""
        return self._rules[rule].mask(kind)

    def reason(self, rule: str) -> str:
        """The rule's reason, for people."""
        return self._rules[rule].reason

    def explain(self, facts: Facts, segment: Segment, finding: Finding) -> tuple[Explanation, ...]:
        """What each rule says about one finding, strictest first, with the reason in words."""
        winner = self.action(facts, segment, finding)[1]
        told = []
        for rule in self._ordered:
            refusal = rule.refusal(facts, segment, finding)
            exempt = self._exempt(rule, facts, segment, finding) if not refusal else ""
            because = refusal or (f"exempted by {exempt}" if exempt else rule.reason)
            told.append(Explanation(rule.id, rule.action, not refusal, rule.id == winner, because))
        return tuple(told)

    def _exempt(self, rule: Rule, facts: Facts, segment: Segment, finding: Finding) -> str:
        allows = self._exempted_by[rule.id]
        return next((a.id for a in allows if not a.refusal(facts, segment, finding)), "")

    def _ladder(self, facts: Facts, kind: str, trust: Trust, source: Source) -> tuple[_Step, ...]:
        steps: list[_Step] = []
        for rule in self._ordered:
            if not rule.applies_to(facts, kind, trust, source):
                continue
            allows = self._exempted_by[rule.id]
            high = min(
                (a.min_score for a in allows if a.applies_to(facts, kind, trust, source)),
                default=math.inf,
            )
            if rule.min_score < high:
                steps.append((rule.min_score, high, rule.action, rule.id))
        return tuple(steps)


def _ordered(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Strictest first, then narrowest (contained in most others of its action), then by id."""

    def rank(rule: Rule) -> tuple[int, int, str]:
        around = sum(r.action is rule.action and r.contains(rule) for r in rules)
        return -rule.action, -around, rule.id

    return tuple(sorted(rules, key=rank))


def _exemptions(rules: Sequence[Rule]) -> Mapping[str, tuple[Rule, ...]]:
    """For each rule the `allow` rules that exempt a finding from it."""
    allows = [rule for rule in rules if rule.action is Action.ALLOW]
    return {
        rule.id: tuple(a for a in allows if rule.action is not Action.ALLOW and rule.contains(a))
        for rule in rules
    }


def _digest(name: str, rules: Sequence[Rule], manners: Manners) -> str:
    form = {
        "name": name,
        "on_error": manners.on_error.name,
        "messages": [manners.input_message, manners.output_message],
        "rules": [rule.form() for rule in rules],
    }
    canonical = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
