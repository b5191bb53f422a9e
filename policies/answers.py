"""Rules for answers that can never fire: nothing looks for their kinds there.

Answers are searched by patterns only, for these can be followed through a stream.  Which kinds
have patterns is told by whoever knows the detectors.
"""

from collections.abc import Collection, Iterator

from ..detectors import Trust
from .compile import Compiled
from .decision import Action, Direction
from .problem import Problem, quoted
from .rule import Rule, cells

_ANSWERS = cells(Direction.OUTPUT, Trust.MODEL)
"""All text of an answer is the model's, so rules for others' text never meant answers."""


def unseen(
    compiled: Compiled, followed: Collection[str], actions: Collection[Action]
) -> Iterator[Problem]:
    """A problem for each rule with one of these actions that names kinds not looked for.

    `followed` are the kinds that are found in answers.
    """
    rules = {rule.id: rule for rule in compiled.policy.rules}
    for index, written in enumerate(compiled.source.tree["rules"]):
        rule = rules[written["id"]]
        missed = sorted(rule.kinds.difference(followed))
        if missed and rule.action in actions and rule.cells & _ANSWERS:
            place = compiled.source.value(("rules", index, "kinds"))
            more = f" and {len(missed) - 1} more" if missed[1:] else ""
            what = f"the rule {quoted(rule.id)} is for {missed[0]}{more} in answers"
            why = "no pattern finds these kinds there, so it would never fire"
            yield place.problem(what, why, _remedy(rule, followed))


def _remedy(rule: Rule, followed: Collection[str]) -> str:
    """What to write instead, by what else the rule is for."""
    if not rule.cells & ~cells(Direction.OUTPUT):
        return "name only kinds that are found in answers, or remove the rule"
    if rule.kinds.isdisjoint(followed):
        return "write direction: input"
    return "write direction: input, and a rule for the other kinds in answers"
