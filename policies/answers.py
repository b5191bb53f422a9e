"""Rules that can never fire, or not in answers: nothing looks for their kinds there.

Answers are searched by patterns only, for these can be followed through a stream.  Which kinds
are reported at all, and which have patterns, is told by whoever knows the detectors.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..detectors import Trust
from .compile import Compiled
from .decision import Action, Direction
from .problem import Problem, quoted
from .rule import Rule, cells

_ANSWERS = cells(Direction.OUTPUT, Trust.MODEL)
"""All text of an answer is the model's, so rules for others' text never meant answers."""


class Kinds(NamedTuple):
    """The kinds that may be named, those that are reported, and those found in answers too."""

    known: Collection[str]
    reported: Collection[str]
    """By the detectors that are used."""
    followed: Collection[str]


class Unseen(NamedTuple):
    """A rule that fires less than it says."""

    problem: Problem
    grave: bool
    """Who relies on the rule relies on nothing; else it is worth a warning."""


def unseen(compiled: Compiled, kinds: Kinds) -> Iterator[Unseen]:
    """A problem for each rule that names kinds nobody looks for, at all or in answers.

    It is grave where the rule acts on answers and names the kind itself, or none of its kinds is
    looked for there.  What a glob takes in besides is only worth a warning, and kinds of detectors
    that are not used are no matter of answers.
    """
    rules = {rule.id: rule for rule in compiled.policy.rules}
    for index, written in enumerate(compiled.source.tree["rules"]):
        rule = rules[written["id"]]
        place = compiled.source.value(("rules", index, "kinds"))
        reported = rule.kinds.intersection(kinds.reported)
        unused = sorted(rule.kinds.intersection(rule.globs) - reported)
        if unused:
            why = "no detector that is used reports it"
            fix = "use the detector, or remove the kind"
            yield Unseen(place.problem(_what(rule, unused, ""), why, fix), grave=False)
        missed = sorted(reported.difference(kinds.followed))
        if missed and rule.cells & _ANSWERS:
            why = "no pattern finds these kinds there, so it would never fire"
            fix = _remedy(rule, kinds.followed)
            grave = rule.action in (Action.REDACT, Action.BLOCK) and (
                len(missed) == len(reported) or not set(missed).isdisjoint(rule.globs)
            )
            yield Unseen(place.problem(_what(rule, missed, " in answers"), why, fix), grave)


def _what(rule: Rule, kinds: list[str], where: str) -> str:
    more = f" and {len(kinds) - 1} more" if kinds[1:] else ""
    return f"the rule {quoted(rule.id)} is for {kinds[0]}{more}{where}"


def _remedy(rule: Rule, followed: Collection[str]) -> str:
    """What to write instead, by what else the rule is for."""
    if not rule.cells & ~cells(Direction.OUTPUT):
        return "name only kinds that are found in answers, or remove the rule"
    if rule.kinds.isdisjoint(followed):
        return "write direction: input"
    return "write direction: input, and a rule for the other kinds in answers"
