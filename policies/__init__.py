"""Policies: YAML in, decisions out.

Rule: kinds, direction, trust and route → action.  Policy: rules compiled for lookup by kind.
Decision: the strictest action and the hits that call for it.  Pack: a policy file that comes
with Tidegate.  Problem: a mistake in a file, with place, reason and remedy.
"""

from .answers import Kinds, unseen
from .compile import Compiled, PolicyError, compile_policy
from .decision import Action, Decision, Direction, Facts, Hit
from .policy import Explanation, Policy
from .problem import Mistakes, Place, Problem
from .selftest import Find, failures, load_policy

__all__ = [
    "Action",
    "Compiled",
    "Decision",
    "Direction",
    "Explanation",
    "Facts",
    "Find",
    "Hit",
    "Kinds",
    "Mistakes",
    "Place",
    "Policy",
    "PolicyError",
    "Problem",
    "compile_policy",
    "failures",
    "load_policy",
    "unseen",
]
