"""From the body of a pattern: the automaton of everything that may still become a match.

A stream filter must not release a text that some pattern could still claim.  For each body this
module derives, by a walk over the parsed expression, a second expression that matches every
non-empty beginning of it.  Where a repeat is long the derived expression forgets the upper bound:
it then holds a little more than needed, never less, and the caller bounds the hold by `longest`.

RE2 counts no further than RE2_REPEATS, so beyond that the body itself loses the bound of a repeat
too.  What a body means is then this: no match is longer than `longest`, and the caller MUST show
RE2 no more than that behind a match's beginning, so that what comes later changes nothing.

Both expressions are written for RE2 (google-re2), whose matching is linear in the text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from re import ASCII
from re import _constants as op  # type: ignore[attr-defined]  # typeshed omits re's parser
from re import _parser as parser  # type: ignore[attr-defined]  # the same
from typing import Any

EXACT_REPEATS = 16
"""Up to this many repeats are counted while a match is in progress; more would bloat the DFA."""

RE2_REPEATS = 1000
"""RE2 refuses larger counts."""

_CATEGORIES = {
    op.CATEGORY_DIGIT: "0-9",
    op.CATEGORY_WORD: "0-9A-Za-z_",
    op.CATEGORY_SPACE: r"\t\n\v\f\r ",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A body for RE2: `whole` matches it, `begun` any non-empty beginning of it.

    `longest` is the longest possible match in characters; `loose` says that `whole` has a repeat
    without its bound, and may match more.
    """

    whole: str
    begun: str
    longest: int
    loose: bool


def shape(body: str) -> Shape:
    """Derive the shape of a body.

    Raises:
        ValueError: the body is no regular expression, matches the empty string, has no longest
            match, or uses look-around, anchors, back-references, lazy or possessive repeats.

    """
    try:
        parsed = parser.parse(body, ASCII)
    except re.error as error:
        raise ValueError(f"pattern {body!r} is no regular expression: {error}") from error
    except RecursionError as error:
        raise ValueError(f"pattern {body!r} is nested too deeply") from error
    if parsed.state.flags != ASCII:
        raise ValueError(f"pattern {body!r} must not set flags; there is `ignore_case`")
    tree = list(parsed)
    shortest, longest = _width(tree)
    if shortest == 0:
        raise ValueError(f"pattern {body!r} matches the empty text")
    return Shape(_whole(tree), _begun(tree), longest, _is_loose(tree))


def _char(code: int) -> str:
    char = chr(code)
    return char if char.isalnum() and char.isascii() else f"\\x{{{code:x}}}"


def _class(items: Iterable[tuple[Any, Any]]) -> str:
    out = ""
    for kind, value in items:
        if kind is op.NEGATE:
            out += "^"
        elif kind is op.LITERAL:
            out += _char(value)
        elif kind is op.RANGE:
            out += f"{_char(value[0])}-{_char(value[1])}"
        elif kind is op.CATEGORY and value in _CATEGORIES:
            out += _CATEGORIES[value]
        else:
            raise ValueError(f"{value} cannot stand in a character class of a pattern")
    return f"[{out}]"


def _group(parts: Sequence[str]) -> str:
    return f"(?:{'|'.join(parts)})"


def _repeat(part: str, low: int, high: int, most: int) -> str:
    """`part` repeated, without the upper bound where it is over `most`."""
    if high > most:
        return f"{part}*" if low == 0 else f"{part}+" if low == 1 else f"{part}{{{low},}}"
    return f"{part}{{{low},{high}}}"


def _whole(tree: Iterable[tuple[Any, Any]]) -> str:
    return "".join(_whole_one(kind, value) for kind, value in tree)


def _whole_one(kind: Any, value: Any, most: int = RE2_REPEATS) -> str:
    if kind is op.LITERAL:
        return _char(value)
    if kind is op.NOT_LITERAL:
        return f"[^{_char(value)}]"
    if kind is op.IN:
        return _class(value)
    if kind is op.BRANCH:
        return _group([_whole(branch) for branch in value[1]])
    if kind is op.SUBPATTERN:
        if value[1] or value[2]:
            raise ValueError("a pattern must not set flags; there is `ignore_case`")
        return _group([_whole(value[3])])
    if kind is op.MAX_REPEAT:
        low, high, inner = value
        return _repeat(_group([_whole(inner)]), low, int(high), most)
    raise ValueError(f"a pattern must not use {kind}: it cannot be followed through a stream")


def _is_loose(tree: Iterable[tuple[Any, Any]]) -> bool:
    """Whether a repeat in it is longer than RE2 counts."""
    return any(
        (kind is op.MAX_REPEAT and (value[1] > RE2_REPEATS or _is_loose(value[2])))
        or (kind is op.SUBPATTERN and _is_loose(value[3]))
        or (kind is op.BRANCH and any(_is_loose(branch) for branch in value[1]))
        for kind, value in tree
    )


def _begun(tree: Sequence[tuple[Any, Any]]) -> str:
    (kind, value), rest = tree[0], tree[1:]
    parts = [_begun_one(kind, value)]
    if rest:
        parts.append(_whole_one(kind, value, EXACT_REPEATS) + _begun(rest))
    return _group(parts)


def _begun_one(kind: Any, value: Any) -> str:
    if kind is op.BRANCH:
        return _group([_begun(branch) for branch in value[1] if len(branch)])
    if kind is op.SUBPATTERN:
        return _begun(value[3])
    if kind is op.MAX_REPEAT:
        _, high, inner = value
        before = _repeat(_group([_whole(inner)]), 0, max(int(high) - 1, 0), EXACT_REPEATS)
        return before + _begun(inner)
    return _whole_one(kind, value)


def _width(tree: Iterable[tuple[Any, Any]]) -> tuple[int, int]:
    """The shortest and the longest match, in characters."""
    low = high = 0
    for kind, value in tree:
        if kind is op.BRANCH:
            widths = [_width(branch) for branch in value[1]]
            one = min(w[0] for w in widths), max(w[1] for w in widths)
        elif kind is op.SUBPATTERN:
            one = _width(value[3])
        elif kind is op.MAX_REPEAT:
            if value[1] is op.MAXREPEAT:
                raise ValueError("a pattern must not repeat without an upper bound")
            inner = _width(value[2])
            one = inner[0] * value[0], inner[1] * value[1]
        else:
            one = 1, 1
        low, high = low + one[0], high + one[1]
    return low, high
