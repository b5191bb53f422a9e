"""A pattern that can be followed through a stream.

A pattern is a plain bounded regular expression plus what must not stand on either side of it.
Keeping the sides apart from the body lets `prefix.py` derive the automaton of all beginnings of
the body, which tells a stream filter whether a match may still be in progress.
"""

from collections.abc import Callable
from dataclasses import dataclass

WORD = r"A-Za-z0-9_"
"""ASCII word characters.  Not \\w: Chinese characters are \\w, and `身份证1101…` has no blank."""

CONTEXT_REACH = 48
"""How many characters before a match may hold its context word (pii.md's measured window)."""


@dataclass(frozen=True, slots=True)
class Pattern:
    r"""One shape of one kind.

    `body` MUST use only literals, classes, groups, alternation and bounded repeats: no
    look-around, anchors, back-references or lazy repeats, and it MUST NOT match the empty
    string (checked by `Scanner`).  Classes are ASCII: `\d` is [0-9].
    `left` and `right` are the inside of a character class that may not stand directly before or
    after the match ("" = anything may).
    `check` sees the matched text and may reject it (a checksum).
    `context`, if given, is a regular expression that must be found in the CONTEXT_REACH
    characters before the match; where no letter is among them it is not asked.
    `unless` is one that must not be found there: `order no.` before what looks like a telephone
    number.
    """

    id: str
    kind: str
    body: str
    score: float
    left: str = WORD
    right: str = WORD
    check: Callable[[str], bool] | None = None
    context: str = ""
    unless: str = ""
    ignore_case: bool = False
