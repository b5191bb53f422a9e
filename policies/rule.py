"""One compiled rule: a set of findings, and what is to be done with them.

A rule's match is a product of sets: kinds x (direction, trust, source) x routes x scores from
`min_score` up.  So one match lies inside another when each factor does, and that is all that
"narrower" means in this package.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..detectors import Finding, Segment, Source, Trust
from .decision import Action, Direction, Facts
from .document import RuleText

DEFAULT_REPLACEMENT = "[{KIND}]"

_DIRECTIONS = tuple(Direction)
_SOURCES = tuple(Source)
_PLACEHOLDER = re.compile(r"\{(.*?)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule ready to be asked; `cells` is a bit set of (direction, trust, source)."""

    id: str
    action: Action
    globs: tuple[str, ...]
    kinds: frozenset[str]
    """The known kinds that the globs name."""
    cells: int
    routes: tuple[str, ...]
    min_score: float
    replacement: str
    reason: str

    def contains(self, other: "Rule") -> bool:
        """Whether every finding that `other` matches is matched by this rule too."""
        return not self.narrower_than(other)

    def narrower_than(self, other: "Rule") -> tuple[str, ...]:
        """In which conditions this rule leaves out something that `other` matches."""
        wider = (
            ("kinds", other.kinds <= self.kinds),
            ("direction, trust or sources", other.cells & ~self.cells == 0),
            ("routes", covers(self.routes, other.routes)),
            ("min_score", self.min_score <= other.min_score),
        )
        return tuple(name for name, holds in wider if not holds)

    def speaks_of(self, kind: str) -> bool:
        """Whether a glob names the kind; a kind no registry knows is matched like any other."""
        return kind in self.kinds or any(fnmatchcase(kind, glob) for glob in self.globs)

    def applies_to(self, facts: Facts, kind: str, trust: Trust, source: Source) -> bool:
        """Whether the match holds, score apart."""
        return (
            bool(self.cells >> cell(facts.direction, trust, source) & 1)
            and any(fnmatchcase(facts.route, glob) for glob in self.routes)
            and self.speaks_of(kind)
        )

    def refusal(self, facts: Facts, segment: Segment, finding: Finding) -> str:
        """Why the rule does not match, in words; "" if it does."""
        if not self.speaks_of(finding.kind):
            return f"its kinds do not name {finding.kind}"
        if not self.cells >> cell(facts.direction, segment.trust, segment.source) & 1:
            trust = segment.trust.name.lower()
            return f"it does not speak of {facts.direction} from {trust} in {segment.source}"
        if not any(fnmatchcase(facts.route, glob) for glob in self.routes):
            return f"its routes do not name {facts.route!r}"
        if finding.score < self.min_score:
            return f"the score {finding.score:g} is below {self.min_score:g}"
        return ""

    def mask(self, kind: str) -> str:
        """What stands in place of a redacted finding of this kind."""
        short = kind.rpartition(".")[2].upper()
        return self.replacement.replace("{KIND}", short).replace("{kind}", kind)

    def form(self) -> dict[str, object]:
        """All that decides, in JSON types: what the digest is made from."""
        return {
            "id": self.id,
            "action": self.action.name,
            "globs": sorted(self.globs),
            "kinds": sorted(self.kinds),
            "cells": self.cells,
            "routes": sorted(self.routes),
            "min_score": self.min_score,
            "replacement": self.replacement,
            "reason": self.reason,
        }


def from_text(text: RuleText, kinds: Iterable[str]) -> Rule:
    """The rule with its globs expanded over the known kinds."""
    directions = _DIRECTIONS if text.direction == "both" else (Direction(text.direction),)
    cells = 0
    for direction in directions:
        for trust in text.trust:
            for source in text.sources:
                cells |= 1 << cell(direction, Trust[trust.upper()], source)
    return Rule(
        text.id,
        Action[text.action.upper()],
        text.kinds,
        frozenset(kind for kind in kinds if any(fnmatchcase(kind, g) for g in text.kinds)),
        cells,
        text.routes,
        text.min_score if text.one_in is None else score_of(text.one_in),
        DEFAULT_REPLACEMENT if text.replacement is None else text.replacement,
        text.reason,
    )


def score_of(one_in: float) -> float:
    """The score that one in so many benign texts reaches, of a learned detector: 0 to 1.

    Learned detectors report s where one in 10^(4 s) benign texts scores as high.
    """
    return math.log10(one_in) / 4


def cells(direction: Direction, *trusts: Trust) -> int:
    """All bits of `Rule.cells` for this direction, of all trusts unless some are named."""
    return sum(1 << cell(direction, t, s) for t in trusts or Trust for s in Source)


def cell(direction: Direction, trust: Trust, source: Source) -> int:
    """The bit of `Rule.cells` for this combination."""
    return (_DIRECTIONS.index(direction) * len(Trust) + int(trust)) * len(
        _SOURCES
    ) + _SOURCES.index(source)


def covers(outer: Iterable[str], inner: Iterable[str]) -> bool:
    """Whether all names that an inner glob matches are matched by one outer glob.

    Globs know only `*`.  Read as a plain text, `*` in the inner glob is matched by nothing but
    a `*` of the outer one, so a match of the texts proves the containment.  (It may miss a
    union of outer globs; then nothing is claimed.)
    """
    outer = tuple(outer)
    return all(any(fnmatchcase(name, glob) for glob in outer) for name in inner)


def bad_placeholders(replacement: str) -> Iterator[str]:
    """Each brace expression that is neither {KIND} nor {kind}."""
    for found in _PLACEHOLDER.finditer(replacement):
        if found[0] not in ("{KIND}", "{kind}"):
            yield found[0]
