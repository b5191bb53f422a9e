"""From raw scores to benign percentiles: how rare a score is among benign texts.

A score s means that 1 in 10**(4 s) benign texts of the same trust and script scores as high: 0.5
is 1 in 100, 0.75 1 in 1,000, 1.0 1 in 10,000 or rarer.  A calibration is made from the raw scores
of benign texts and of nothing else.  What is rarer than the texts can show is told by an
exponential tail fitted to the highest of them: an estimate, as all extrapolation.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .heads import HEADS
from .script import Script

DECADES = 4.0
"""Powers of ten that a score of 1 stands for."""

FEWEST = 200
"""Texts that a curve is made from at least."""

_TAIL = 0.02
"""The highest part of the texts, which the tail is fitted to."""

_STEADY = 20
"""Texts that a point of the curve lies above at least; what is rarer is the tail's."""

_VERSION = 1
_GRID = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7)
"""Powers of ten at which the curve follows the texts themselves."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Raw scores, rising, and how rare each is, in powers of ten."""

    raws: tuple[float, ...]
    decades: tuple[float, ...]

    def score(self, raw: float) -> float:
        """The benign percentile of a raw score, 0 to 1."""
        at = bisect_right(self.raws, raw)
        if at == 0:
            return 0.0
        if at == len(self.raws):
            return min(1.0, self.decades[-1] / DECADES)
        low, high = self.raws[at - 1], self.raws[at]
        part = (raw - low) / (high - low)
        found = self.decades[at - 1] + part * (self.decades[at] - self.decades[at - 1])
        return min(1.0, found / DECADES)


def curve(raws: Iterable[float]) -> Curve:
    """The curve that the raw scores of benign texts make; their order does not matter.

    Raises ValueError with the reason if there are fewer than FEWEST, or nearly all are the same.
    """
    ranked = sorted(raws)
    size = len(ranked)
    if size < FEWEST:
        raise ValueError(f"{size} texts are too few: a curve needs {FEWEST}")
    points: list[tuple[float, float]] = []
    for decades in _GRID:
        above = size * 10**-decades
        if above < _STEADY:
            break
        points.append((ranked[max(0, size - math.ceil(above))], decades))
    rate = _tail_rate(ranked)
    raw, decades = points[-1]
    points.append((raw + (DECADES - decades) * math.log(10) / rate, DECADES))
    rising = [points[0]]
    for point in points[1:]:
        if point[0] > rising[-1][0]:
            rising.append(point)
    return Curve(tuple(p[0] for p in rising), tuple(p[1] for p in rising))


def _tail_rate(ranked: Sequence[float]) -> float:
    """One over the mean by which the highest texts exceed the least of them."""
    top = ranked[-max(_STEADY, int(len(ranked) * _TAIL)) :]
    mean = sum(raw - top[0] for raw in top) / len(top)
    if mean <= 0:
        raise ValueError("the highest scores are all the same: no tail can be fitted to them")
    return 1 / mean


@dataclass(frozen=True, slots=True)
class Calibration:
    """A curve for each head and script."""

    curves: Mapping[tuple[str, Script], Curve]

    def score(self, head: str, script: Script, raw: float) -> float:
        """The benign percentile of a raw score, 0 to 1."""
        return self.curves[head, script].score(raw)

    def over(self, other: "Calibration") -> "Calibration":
        """Its own curves, and the other's where this one has none."""
        return Calibration({**other.curves, **self.curves})


def dumps(calibration: Calibration, classifier: str) -> str:
    """The calibration as JSON; `classifier` is the version whose raw scores it is about."""
    curves: dict[str, dict[str, list[list[float]]]] = {}
    for (head, script), made in sorted(calibration.curves.items()):
        rows = [
            [round(raw, 4), decades] for raw, decades in zip(made.raws, made.decades, strict=True)
        ]
        curves.setdefault(head, {})[script.value] = rows
    document = {"version": _VERSION, "classifier": classifier, "curves": curves}
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def loads(text: str, classifier: str) -> Calibration:
    """A calibration from its JSON.

    Raises ValueError with the reason if it is none, or is about another classifier.
    """
    try:
        document = json.loads(text)
        if document["version"] != _VERSION:
            raise ValueError("it is of another version")
        if document["classifier"] != classifier:
            raise ValueError("it was made for another classifier; make it anew")
        return Calibration(
            {
                _key(head, script): _curve(rows)
                for head, scripts in document["curves"].items()
                for script, rows in scripts.items()
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is no calibration") from error


def _key(head: str, script: str) -> tuple[str, Script]:
    if head not in HEADS:
        raise ValueError(f"there is no head {head!r}")
    return head, Script(script)


def _curve(rows: Sequence[Any]) -> Curve:
    raws, decades = zip(*((float(raw), float(rare)) for raw, rare in rows), strict=True)
    finite = all(map(math.isfinite, (*raws, *decades)))
    if not finite or list(raws) != sorted(set(raws)) or list(decades) != sorted(set(decades)):
        raise ValueError("a curve must rise")
    return Curve(raws, decades)
