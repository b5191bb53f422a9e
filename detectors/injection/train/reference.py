"""What is known of texts a classifier has not learnt from: its calibration, and its figures.

The corpus is cut into FOLDS by clusters of near doubles; each part is scored by a classifier that
learnt from the others.  So every benign text serves for both, learning and calibrating, and no
score is that of a text its classifier knew.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..learned.calibration import FEWEST, Calibration, Curve, curve
from ..learned.script import Script
from .bags import Bags, Floats
from .linear import Labels, fit
from .samples import Sample

FOLDS = 4

_MOST_OF_A_SET = 1500
"""Texts of one set and script that count towards a curve, so that no set is most of it."""

_GROWTH_BIN = 100
"""Texts with about as many windows that say something about the growth."""

_GROWTH_QUANTILE = 0.98


@dataclass(frozen=True, slots=True)
class Held:
    """The samples of one head, each scored by a classifier that did not learn from it."""

    samples: Sequence[Sample]
    scripts: Sequence[Script]
    raws: Floats
    growth: float


def held(
    samples: Sequence[Sample], bags: Bags, labels: Labels, progress: Callable[[str], None]
) -> Held:
    """Score every sample by a classifier of the other folds."""
    fold = np.array([sample.group % FOLDS for sample in samples])
    raws = np.zeros(len(samples))
    for number in range(FOLDS):
        used = (fold != number).astype(np.int64)
        part = Labels(labels.attacks, labels.weights, used)
        fitted = fit(bags, part, lambda at, loss: None)  # noqa: ARG005 - told as a whole
        raws[fold == number] = fitted.scores(bags)[fold == number]
        progress(f"fold {number + 1} of {FOLDS}")
    benign = np.array([not s.attack and not s.disguised for s in samples])
    growth = _growth(raws[benign], bags.counts[benign])
    return Held(samples, bags.scripts, raws - growth * np.log2(bags.counts), growth)


def calibrated(head: str, known: Held) -> Calibration:
    """The curves of a head: of every script, or of all texts where a script has too few."""
    by_script: dict[Script, list[float]] = {script: [] for script in Script}
    taken: Counter[tuple[str, Script]] = Counter()
    for sample, script, raw in zip(known.samples, known.scripts, known.raws, strict=True):
        key = (sample.source, script)
        if sample.attack or sample.disguised or taken[key] >= _MOST_OF_A_SET:
            continue
        taken[key] += 1
        by_script[script].append(float(raw))
    every = [raw for raws in by_script.values() for raw in raws]
    curves: dict[tuple[str, Script], Curve] = {
        (head, script): curve(raws if len(raws) >= FEWEST else every)
        for script, raws in by_script.items()
    }
    return Calibration(curves)


def _growth(raws: Floats, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """By how much the high scores of benign texts rise with each doubling of their windows."""
    doublings = np.floor(np.log2(counts)).astype(np.int64)
    points = [
        (float(at), float(np.quantile(raws[doublings == at], _GROWTH_QUANTILE)), int(many))
        for at, many in enumerate(np.bincount(doublings))
        if many >= _GROWTH_BIN
    ]
    if len(points) < 2:  # noqa: PLR2004 - a line needs two
        return 0.0
    shares = [math.sqrt(many) for _, _, many in points]
    middle = sum(s * x for s, (x, _, _) in zip(shares, points, strict=True)) / sum(shares)
    mean = sum(s * y for s, (_, y, _) in zip(shares, points, strict=True)) / sum(shares)
    above = sum(s * (x - middle) * (y - mean) for s, (x, y, _) in zip(shares, points, strict=True))
    below = sum(s * (x - middle) ** 2 for s, (x, _, _) in zip(shares, points, strict=True))
    return max(0.0, above / below)
