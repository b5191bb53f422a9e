"""Rules that cannot do what their author meant, found before the policy is used.

Sound, not complete: what is reported is certain; some rules that never win are not noticed.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from .decision import Action
from .problem import Problem, quoted
from .rule import Rule, covers
from .source import Source


def contradictions(rules: Sequence[Rule], source: Source) -> Iterator[Problem]:
    """Pairs of rules that match exactly the same findings."""
    for (_, a), (index, b) in combinations(enumerate(rules), 2):
        if not (a.contains(b) and b.contains(a)):
            continue
        place = source.value(("rules", index, "action"))
        if a.action is b.action:
            what = f"the rules {quoted(a.id)} and {quoted(b.id)} say the same"
            yield place.problem(what, "they match the same findings", "remove one")
        else:
            what = f"the rules {quoted(a.id)} and {quoted(b.id)} contradict each other"
            actions = f"they match the same findings and say {_name(a)} and {_name(b)}"
            yield place.problem(what, actions, "remove one, or make it narrower")


def useless(rules: Sequence[Rule], source: Source) -> Iterator[Problem]:
    """`allow` rules that exempt nothing, and rules that a stricter one always overrules."""
    allows = [rule for rule in rules if rule.action is Action.ALLOW]
    for index, rule in enumerate(rules):
        place = source.value(("rules", index))
        if rule.action is Action.ALLOW:
            why = _exempts_nothing(rule, rules)
            if why:
                what = f"the rule {quoted(rule.id)} exempts nothing"
                fix = "an allow rule must be as narrow as the rule it is an exception to"
                yield place.problem(what, why, fix)
            continue
        stricter = [
            r
            for r in rules
            if r.action > rule.action
            and r.min_score <= rule.min_score
            and covers(r.routes, rule.routes)
            and not any(r.contains(allow) for allow in allows)
        ]
        if _filled(rule, stricter):
            what = f"the rule {quoted(rule.id)} never decides"
            names = ", ".join(quoted(r.id) for r in stricter if r.kinds & rule.kinds)
            why = f"whatever it matches is decided more strictly by {names}"
            yield place.problem(what, why, "remove it, or make the stricter rule narrower")


def _exempts_nothing(allow: Rule, rules: Sequence[Rule]) -> str:
    """Why the allow rule has no effect, "" if it has one."""
    others = [r for r in rules if r.action is not Action.ALLOW and r.kinds & allow.kinds]
    if not others:
        return "no other rule speaks of these kinds"
    if any(rule.contains(allow) for rule in others):
        return ""
    nearest = min(others, key=lambda rule: (len(rule.narrower_than(allow)), rule.id))
    wider = " and ".join(nearest.narrower_than(allow))
    return f"it is wider than {quoted(nearest.id)} in {wider}"


def _filled(rule: Rule, stricter: Sequence[Rule]) -> bool:
    """Whether the stricter rules together match everything that the rule matches."""
    for kind in rule.kinds:
        left = rule.cells
        for other in stricter:
            if kind in other.kinds:
                left &= ~other.cells
        if left:
            return False
    return True


def _name(rule: Rule) -> str:
    return rule.action.name.lower()
