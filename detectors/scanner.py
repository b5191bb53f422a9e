"""A set of patterns, run over whole texts and over streams alike.

Three RE2 automata do the work, each linear in the text:
- a Gate over all patterns tells which of them occur at all (nearly always none);
- one expression a pattern gives the exact spans, only when the Gate saw it;
- one expression over the beginnings of all patterns, anchored at the end, gives the leftmost
  place from which a match may still be in progress (RE2 runs it backwards from the end).

Invariant, which the stream filter builds on: a candidate that does not touch the end of the
text, and does not start at or after `in_progress`, is the same whatever text may follow.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import re2

from .finding import Finding
from .gate import WITNESS, Gate, options
from .pattern import CONTEXT_REACH, Pattern
from .prefix import shape
from .segment import Segment

_EDGE = b"\n"
"""Stands before and after the text, so that every match has a neighbour on both sides."""

MOST_CANDIDATES = 200_000
"""Matches looked at in one text, refused ones too: about two seconds.  More is no text that
someone wrote, and reading all of it would be its author's gain."""

_LETTER = re.compile(r"[^\W\d_]")

_MEMORY = 64 << 20
"""Bytes RE2 may spend on one automaton's states before it starts over."""


class Candidate(NamedTuple):
    """A match of a pattern before its context is asked: half-open, in characters."""

    start: int
    end: int
    pattern: int
    checks: bool
    """Whether the pattern's check took it."""


class Overloaded(Exception):
    """A text has more matches than are looked at; it counts as a text that cannot be read."""


UNREADABLE = (Overloaded, RuntimeError)
"""What a search raises when it cannot be done; RuntimeError where RE2 has no memory."""


class Scanner:
    """The patterns, compiled.

    Raises ValueError if one cannot be followed through a stream or RE2 cannot run them.
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = tuple(patterns)
        self.kinds = frozenset(p.kind for p in self.patterns)
        shapes = [shape(p.body) for p in self.patterns]
        self._loose = [s.longest if s.loose else 0 for s in shapes]
        self.reach = max((s.longest for s in shapes), default=0) + 1
        """A match that starts at p is decided once p + reach characters are there."""
        pairs = list(zip(self.patterns, shapes, strict=True))
        exact = [f"{_not(p.left)}({_case(p, s.whole)}){_not(p.right)}" for p, s in pairs]
        self._exact = [_compiled(e) for e in exact]
        begun = "|".join(f"{_not(p.left)}{_case(p, s.begun)}" for p, s in pairs)
        self._begun = _compiled(rf"(?:{begun})\z")
        # The edge that `idle` puts behind the text stands for any right neighbour.
        self._busy = Gate([*exact, rf"(?:{begun})\n{WITNESS}\z"], _MEMORY)
        self._contexts = [re.compile(p.context) if p.context else None for p in self.patterns]
        self._unless = [re.compile(p.unless) if p.unless else None for p in self.patterns]
        self._gate = Gate(exact, _MEMORY)

    def find(self, segment: Segment) -> list[Finding]:
        """All findings that start at or after `segment.start`, sorted by start, then end."""
        return self.confirm(segment.text, self.candidates(segment.text, segment.start))

    def sees(self, data: bytes) -> Sequence[int]:
        """The indexes of the patterns that occur in the UTF-8 text: cheap, and rarely any."""
        return self._gate.hits(_EDGE + data + _EDGE) if self.patterns else ()

    def candidates(self, text: str, start: int = 0) -> list[Candidate]:
        """Every match that starts at or after `start`, sorted; contexts are not yet asked.

        Each pattern reads on after its last match, or, where its check refused that match, inside
        it: the digits before a card number must not hide the number.

        Raises:
            Overloaded: there are over MOST_CANDIDATES.

        """
        if not self.patterns:
            return []
        left = max(start - 1, 0)
        data = text[left:].encode("utf-8", "replace")
        framed = data + _EDGE if start else _EDGE + data + _EDGE
        hits = self._gate.hits(framed)
        if not hits:
            return []
        found: list[Candidate] = []
        for index in hits:
            self._spans(index, framed, found)
        # A frame position counts the edge (or the one character of left context) before `start`.
        if len(data) == len(text) - left:
            return sorted(Candidate(s - 1 + start, e - 1 + start, i, c) for s, e, i, c in found)
        return sorted(_in_characters(framed, start, found))

    def _spans(self, index: int, framed: bytes, found: list[Candidate]) -> None:
        search, check = self._exact[index].search, self.patterns[index].check
        if self._loose[index]:
            search = _Bounded(self._exact[index], framed, self._loose[index]).search
        at = 0
        while (match := search(framed, at)) is not None:
            if len(found) >= MOST_CANDIDATES:
                raise Overloaded(f"over {MOST_CANDIDATES} matches in one text")
            begin, end = match.span(1)
            checks = check is None or check(framed[begin:end].decode("utf-8"))
            found.append(Candidate(begin, end, index, checks))
            # The next match's left neighbour: this one's last character, or its first.
            at = _last_character(framed, end) if checks else begin

    def confirm(self, text: str, candidates: Sequence[Candidate]) -> list[Finding]:
        """The candidates that pass their pattern's check and context, without covered ones."""
        found = [
            Finding(pattern.kind, c.start, c.end, pattern.score, pattern.id)
            for c in candidates
            if c.checks and self._in_context(text, c)
            for pattern in (self.patterns[c.pattern],)
        ]
        return found if len(found) < 2 else _uncovered(found)  # noqa: PLR2004 - a pair

    def _in_context(self, text: str, c: Candidate) -> bool:
        context, unless = self._contexts[c.pattern], self._unless[c.pattern]
        if context is None and unless is None:
            return True
        before = max(0, c.start - CONTEXT_REACH)
        # Numbers follow numbers far more often than words, and this asks a twentieth.
        if _LETTER.search(text, before, c.start) is None:
            return context is None
        return (context is None or context.search(text, before, c.start) is not None) and (
            unless is None or unless.search(text, before, c.start) is None
        )

    def idle(self, text: str, start: int) -> bool:
        """Whether no pattern occurs at or after `start` and none may be in progress at the end.

        One look where `candidates` and `in_progress` take two; nearly always true of prose.
        """
        if not self.patterns:
            return True
        data = text[start - 1 :] if start else "\n" + text
        return not self._busy.hits(data.encode("utf-8", "replace") + _EDGE)

    def in_progress(self, text: str, start: int) -> int:
        """The leftmost position at or after `start` from which a match may still grow.

        len(text) if there is none.  `text` is all that has come so far; more may follow.
        """
        if not self.patterns:
            return len(text)
        left = max(start - 1, 0)
        data = text[left:].encode("utf-8", "replace")
        framed = data if start else _EDGE + data
        match = self._begun.search(framed)
        if match is None:
            return len(text)
        at: int = match.start()
        if len(data) != len(text) - left:
            at = len(framed[:at].decode("utf-8"))
        return max(start + at, len(text) - self.reach)


class _Bounded:
    """Searches a text for an expression that has lost the bound of a repeat.

    What counts as a match is what the expression matches in `longest` characters and the one
    after them, so that a match depends on nothing that comes later.
    """

    def __init__(self, expression: Any, framed: bytes, longest: int) -> None:
        self._expression = expression
        self._longest = longest
        self._framed = framed
        self._wide = not framed.isascii()
        self._reach = (longest + 2) * (4 if self._wide else 1)
        """Bytes that a match can have with its neighbours: a character has four at most."""

    def search(self, framed: bytes, at: int) -> Any:
        """The first match whose left neighbour begins at or after `at`; None without one."""
        while at < len(framed):
            # Not the whole text: each search would run to the end of a repeat without its bound.
            found = self._expression.search(framed, at, at + 2 * self._reach)
            if found is None or found.start() >= at + self._reach:
                at += self._reach  # a match that begins before lies wholly in what was searched
                continue
            match = self._expression.match(framed, found.start(), self._stop(found.start(1)))
            if match is not None:
                return match
            at = found.start(1)
        return None

    def _stop(self, begin: int) -> int:
        """Where the character after the longest match that starts at `begin` ends."""
        most = self._longest + 1
        if not self._wide:
            return begin + most
        some = self._framed[begin : begin + self._reach].decode("utf-8", "ignore")
        return begin + len(some[:most].encode("utf-8"))


def _not(inside: str) -> str:
    return f"[^{inside}]" if inside else r"(?s:.)"


def _case(pattern: Pattern, expression: str) -> str:
    return f"(?i:{expression})" if pattern.ignore_case else f"(?:{expression})"


def _compiled(expression: str) -> Any:
    try:
        return re2.compile(expression.encode(), options(_MEMORY))
    except re2.error as error:
        raise ValueError(f"RE2 cannot follow {expression[:80]}: {error}") from error


def _last_character(framed: bytes, end: int) -> int:
    """Where the character before `end` begins: bytes 10xxxxxx continue a character in UTF-8."""
    at = end - 1
    while framed[at] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8's own numbers, RFC 3629 section 3
        at -= 1
    return at


def _in_characters(framed: bytes, start: int, found: Sequence[Candidate]) -> list[Candidate]:
    """Byte spans of the frame as character spans of the text, in one pass over the frame."""
    marks = sorted({m for c in found for m in (c.start, c.end)})
    characters = {}
    at = count = 0
    for mark in marks:
        count += len(framed[at:mark].decode("utf-8"))
        characters[mark] = count - 1 + start
        at = mark
    return [c._replace(start=characters[c.start], end=characters[c.end]) for c in found]


def _uncovered(found: Sequence[Finding]) -> list[Finding]:
    """Drops what lies inside a finding that is at least as sure: a phone number in a card."""
    kept: list[Finding] = []
    open_ones: list[Finding] = []  # few at a time, so that thousands of findings stay linear
    for f in sorted(found, key=lambda f: (f.start, -f.end, -f.score)):
        open_ones = [k for k in open_ones if k.end > f.start]
        if not any(k.end >= f.end and k.score >= f.score for k in open_ones):
            kept.append(f)
            open_ones.append(f)
    return sorted(kept, key=lambda f: (f.start, f.end))
