"""Prompt injection and jailbreaks: rules as data, a learned classifier, the detector of both.

Rule: one shape of an attack with a score and a reason.  Marker: what has no place inside a text.
Third-party rules: orders where no order belongs.  Layer: what a text says when decoded.
Learned: what an attack looks like, from examples.
"""

from .detector import Injection
from .rule import Rule
from .rules import REASONS, RULES

__all__ = ["REASONS", "RULES", "Injection", "Rule"]
