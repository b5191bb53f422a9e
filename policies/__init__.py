"""Policies: YAML in, decisions out.

Rule: kinds, direction, trust and route → action.  Policy: rules compiled for lookup by kind.
Decision: the strictest action and the hits that call for it.
"""

from .decision import Action, Decision, Direction, Facts, Hit

__all__ = ["Action", "Decision", "Direction", "Facts", "Hit"]
