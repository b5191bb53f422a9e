"""The learned classifier: what an attack looks like, from examples instead of rules.

Features: a text as hashed sequences of characters.  Window: a stretch of it that is judged by
itself.  Head: weights for texts of one trust.  Calibration: from a raw score to how rare it is
among benign texts.  CARD.md says what it learnt from, how well it does and where it fails.
"""

from .calibration import Calibration, Curve, curve, dumps, loads
from .classifier import Classifier, Verdict
from .heads import HEAD_OF, REPORTS
from .script import Script

__all__ = [
    "HEAD_OF",
    "REPORTS",
    "Calibration",
    "Classifier",
    "Curve",
    "Script",
    "Verdict",
    "curve",
    "dumps",
    "loads",
]
