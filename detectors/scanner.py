"""A set of patterns, run over whole texts and over streams alike.

Three RE2 automata do the work, each linear in the text:
- a Set over all patterns tells which of them occur at all (nearly always none);
- one expression a pattern gives the exact spans, only when the Set saw it;
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
from .pattern import CONTEXT_REACH, Pattern
from .prefix import shape
from .segment import Segment

_EDGE = b"\n"
"""Stands before and after the text, so that every match has a neighbour on both sides."""

MOST_REFUSED = 1000
"""Refused matches in a row that are read again from inside: beyond it a text is made of
look-alikes, and reading each of them many times would be its author's gain."""

_MEMORY = 64 << 20
"""Bytes RE2 may spend on one automaton's states before it starts over."""


class Candidate(NamedTuple):
    """A match of a pattern before its context is asked: half-open, in characters."""

    start: int
    end: int
    pattern: int
    checks: bool
    """Whether the pattern's check took it."""


class Scanner:
    """The patterns, compiled.  Raises ValueError if one cannot be followed through a stream."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = tuple(patterns)
        self.kinds = frozenset(p.kind for p in self.patterns)
        shapes = [shape(p.body) for p in self.patterns]
        self._longest = [s.longest for s in shapes]
        self.reach = max(self._longest, default=0) + 1
        """A match that starts at p is decided once p + reach characters are there."""
        pairs = list(zip(self.patterns, shapes, strict=True))
        exact = [f"{_not(p.left)}({_case(p, s.whole)}){_not(p.right)}" for p, s in pairs]
        self._exact = [_compiled(e) for e in exact]
        begun = "|".join(f"{_not(p.left)}{_case(p, s.begun)}" for p, s in pairs)
        self._begun = _compiled(rf"(?:{begun})\z")
        # The edge that `idle` puts behind the text stands for any right neighbour.
        self._busy = _set([*exact, rf"(?:{begun})\n\z"])
        self._contexts = [re.compile(p.context) if p.context else None for p in self.patterns]
        self._gate = _set(exact)

    def find(self, segment: Segment) -> list[Finding]:
        """All findings that start at or after `segment.start`, sorted by start, then end."""
        return self.confirm(segment.text, self.candidates(segment.text, segment.start))

    def sees(self, data: bytes) -> Sequence[int]:
        """The indexes of the patterns that occur in the UTF-8 text: cheap, and rarely any."""
        return self._gate.Match(_EDGE + data + _EDGE) or () if self.patterns else ()

    def candidates(self, text: str, start: int = 0) -> list[Candidate]:
        """Every match that starts at or after `start`, sorted; contexts are not yet asked.

        Each pattern reads on after its last match, or, where its check refused that match, inside
        it: the digits before a card number must not hide the number.
        """
        if not self.patterns:
            return []
        left = max(start - 1, 0)
        data = text[left:].encode("utf-8", "replace")
        framed = data + _EDGE if start else _EDGE + data + _EDGE
        hits = self._gate.Match(framed)
        if not hits:
            return []
        found: list[Candidate] = []
        for index in hits:
            found += self._spans(index, framed)
        # A frame position counts the edge (or the one character of left context) before `start`.
        if len(data) == len(text) - left:
            return sorted(Candidate(s - 1 + start, e - 1 + start, i, c) for s, e, i, c in found)
        return sorted(_in_characters(framed, start, found))

    def _spans(self, index: int, framed: bytes) -> list[Candidate]:
        search, longest = self._exact[index].search, self._longest[index]
        check = self.patterns[index].check
        found = []
        at = refused = 0
        while (match := search(framed, at)) is not None:
            begin, end = match.span(1)
            if end - begin > longest:  # RE2 was given a repeat without its bound, or wide text
                end = _clamp(framed, begin, end, longest)
            checks = check is None or check(framed[begin:end].decode("utf-8"))
            found.append(Candidate(begin, end, index, checks))
            # The next match's left neighbour: this one's last character, or its first.
            refused = 0 if checks else refused + 1
            at = begin if 0 < refused <= MOST_REFUSED else _last_character(framed, end)
        return found

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
        context = self._contexts[c.pattern]
        return context is None or bool(
            context.search(text, max(0, c.start - CONTEXT_REACH), c.start)
        )

    def idle(self, text: str, start: int) -> bool:
        """Whether no pattern occurs at or after `start` and none may be in progress at the end.

        One look where `candidates` and `in_progress` take two; nearly always true of prose.
        """
        if not self.patterns:
            return True
        data = text[start - 1 :] if start else "\n" + text
        return not self._busy.Match(data.encode("utf-8", "replace") + _EDGE)

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


def _not(inside: str) -> str:
    return f"[^{inside}]" if inside else r"(?s:.)"


def _case(pattern: Pattern, expression: str) -> str:
    return f"(?i:{expression})" if pattern.ignore_case else f"(?:{expression})"


def _compiled(expression: str) -> Any:
    try:
        return re2.compile(expression.encode(), _options())
    except re2.error as error:
        raise ValueError(f"RE2 cannot follow {expression[:80]}: {error}") from error


def _set(expressions: Sequence[str]) -> re2.Set:
    made = re2.Set.SearchSet(_options())
    for expression in expressions:
        made.Add(expression.encode())
    if expressions:
        made.Compile()
    return made


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def _last_character(framed: bytes, end: int) -> int:
    """Where the character before `end` begins: bytes 10xxxxxx continue a character in UTF-8."""
    at = end - 1
    while framed[at] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8's own numbers, RFC 3629 section 3
        at -= 1
    return at


def _clamp(framed: bytes, begin: int, end: int, longest: int) -> int:
    """The end of the first `longest` characters of a match, as a byte position."""
    kept = framed[begin:end].decode("utf-8")[:longest]
    return begin + len(kept.encode("utf-8"))


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
