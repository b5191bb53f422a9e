"""Tells which of many expressions occur in a text, in one pass and with its failure visible.

RE2's sets say "nothing" when their automaton gets no memory, and google-re2 drops the flag that
tells it from a text without a match.  So each set has one expression more, a witness, and each
text ends with what the witness matches: an answer without it is a failure, and an error here.
(In RE2 as of 2025 a set fails only if its program leaves no room for 20 states, and `Compile`
refuses that; a full cache is emptied and the search goes on.)
"""

from collections.abc import Sequence

import re2

WITNESS = r"\x00"
"""An expression: what a Gate puts behind each text, for expressions that end with the text."""

_SET_WITNESS = b"\x00"
_FILTER_WITNESS = b"\x00\x00witness\x00"
_BLIND = "RE2 did not find what stands in the text: it has no memory for its automaton"


class Gate:
    """RE2's Set: exact, for expressions whose automata are small beside each other.

    Raises ValueError if RE2 cannot take an expression or has no memory for all of them.
    """

    def __init__(self, expressions: Sequence[str], memory: int) -> None:
        self._set = re2.Set.SearchSet(options(memory))
        self._witness = len(expressions)
        try:
            for expression in expressions:
                self._set.Add(expression.encode())
            self._set.Add(WITNESS.encode())
            self._set.Compile()
        except re2.error as error:
            raise ValueError(f"RE2 cannot run {len(expressions)} expressions: {error}") from error
        self.hits(b"")

    def hits(self, data: bytes) -> Sequence[int]:
        """The indexes of the expressions that occur in the UTF-8 text, in no order.

        Raises:
            RuntimeError: RE2 could not read the text.

        """
        hits: Sequence[int] = self._set.Match(data + _SET_WITNESS) or ()
        if len(hits) == 1 and hits[0] == self._witness:
            return ()
        if self._witness not in hits:
            raise RuntimeError(_BLIND)
        return [hit for hit in hits if hit != self._witness]


class LiteralGate:
    """RE2's Filter: tells which expressions have all their literals in a text.

    Raises ValueError if RE2 cannot take an expression or has no memory for all of them.
    """

    def __init__(self, expressions: Sequence[str], memory: int) -> None:
        self._filter = re2.Filter()
        self._witness = len(expressions)
        try:
            for expression in expressions:
                self._filter.Add(expression.encode(), options(memory))
            self._filter.Add(re2.escape(_FILTER_WITNESS), options(memory))
            self._filter.Compile()
        except re2.error as error:
            raise ValueError(f"RE2 cannot run {len(expressions)} expressions: {error}") from error
        self.hits(b"")

    def hits(self, data: bytes) -> list[int]:
        """The indexes, in order, of the expressions that may occur: every one that does is there.

        Raises:
            RuntimeError: RE2 could not read the text.

        """
        hits = sorted(self._filter.Match(data + _FILTER_WITNESS, True) or ())
        if not hits or hits.pop() != self._witness:
            raise RuntimeError(_BLIND)
        return hits


def options(memory: int) -> re2.Options:
    """RE2's options; `memory` is what one automaton may use, in bytes."""
    made = re2.Options()
    made.max_mem = memory
    made.log_errors = False
    return made
