"""A classifier made by hand: it knows one word, and its scores can be worked out on paper."""

import numpy as np

from tidegate.detectors.injection.learned.artefact import Head, write
from tidegate.detectors.injection.learned.calibration import Calibration, Curve
from tidegate.detectors.injection.learned.features import BITS, buckets, codes
from tidegate.detectors.injection.learned.heads import HEADS
from tidegate.detectors.injection.learned.script import Script

CURVE = Curve((0.0, 10.0), (0.0, 4.0))


def head(word: str, growth: float = 0.0) -> Head:
    """A head to which only the characters of a word say anything."""
    weights = np.zeros(1 << BITS, np.int8)
    weights[buckets(codes(word))[:, 1:-1]] = 100
    weights[0] = 0
    return Head(weights, 0.05, -5.0, growth)


def artefact(growth: float = 0.0) -> bytes:
    """Callers may not say "swordfish", third parties not "marmalade"."""
    words = dict(zip(HEADS, ("swordfish", "marmalade"), strict=True))
    curves = {(name, script): CURVE for name in HEADS for script in Script}
    return write({n: head(word, growth) for n, word in words.items()}, Calibration(curves))
