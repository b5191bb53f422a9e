"""What a rule is: a shape of an attack, as data."""

from dataclasses import dataclass

from ..segment import Trust

CALLER_AND_BELOW = frozenset({Trust.CALLER, Trust.MODEL, Trust.THIRD_PARTY})
"""Whose text is asked by default.  An operator may say to a model what he likes."""

THIRD_PARTY_ONLY = frozenset({Trust.THIRD_PARTY})


@dataclass(frozen=True, slots=True)
class Rule:
    r"""One rule.  `pattern` is an RE2 expression, asked of the `skeleton` of a text.

    `unless`, if given, is an RE2 expression that must not match the UNLESS_REACH characters that
    end where the match starts: a negation, or a subject that makes the order a report.
    `quotable` rules count half when the match begins in quotation marks in a text that talks about
    attacks: "what does 'ignore previous instructions' do?".
    `reason` completes "This text …" for a person.
    """

    id: str
    kind: str
    language: str
    pattern: str
    score: float
    reason: str
    trusts: frozenset[Trust] = CALLER_AND_BELOW
    unless: str = ""
    quotable: bool = True
