"""A text as a model reads it, with an exact way back to the text as it was sent.

`normalize` undoes what only changes the look: width and compatibility forms (NFKC, Unicode
UAX 15), invisible characters, bidirectional controls, variation selectors, and ASCII smuggled in
Unicode tags.  `skeleton` also reads look-alike letters of other scripts as Latin, removes accents
from Latin ones, and takes any blank for a space: it is for reading orders, not for finding data.

Characters are rewritten one by one, with the combining marks that follow them, so the result is
NFKC within such a cluster, not over the whole text (Hangul jamo are not composed).
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from .homoglyphs import HOMOGLYPHS

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001d173-\U0001d17a\U000e0100-\U000e01ef"
)
"""Default-ignorable characters (Unicode DerivedCoreProperties) other than tags."""

_TAGS = "\U000e0000-\U000e007f"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""The combining marks of Latin, Greek and Cyrillic writing, and of "Zalgo" text."""

_PLAIN = "\x00-\x7f\u3001\u3002\u3040-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3"
"""Characters that stand for themselves: ASCII, kana, Han and Hangul syllables."""

_RUN = re.compile(f"[^{_PLAIN}]+")
"""What has to be looked at.  One class within the BMP, which `re` looks up in constant time."""

_CLUSTER = re.compile(f"[{_INVISIBLE}{_TAGS}]+|.[{_MARKS}]*", re.DOTALL)
_DROPPED = re.compile(f"[{_INVISIBLE}]")
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}{_TAGS}]")
_MARK = re.compile(f"[{_MARKS}]")
_TAG_BASE = 0xE0000
_PRINTABLE_TAGS = range(0xE0020, 0xE007F)
_CACHED_CLUSTERS = 4096


class _Edit(NamedTuple):
    """`new`..`new_end` of the normalised text came from `old`..`old_end` of the original."""

    new: int
    new_end: int
    old: int
    old_end: int


class Normalized:
    """A normalised text and where each of its characters came from."""

    __slots__ = ("_edits", "_starts", "text")

    def __init__(self, text: str, edits: list[_Edit]) -> None:
        self.text = text
        self._edits = edits
        self._starts = [edit.new for edit in edits]

    @property
    def is_identity(self) -> bool:
        """Whether every offset is the same in both texts."""
        return not self._edits

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The smallest span of the original that covers what start..end was made from.

        Half-open, in characters; `start` < `end`, both within the normalised text.
        """
        return self._back(start)[0], self._back(end - 1)[1]

    def _back(self, index: int) -> tuple[int, int]:
        """The span of the original that made one character of the normalised text."""
        at = bisect_right(self._starts, index) - 1
        if at < 0:
            return index, index + 1
        edit = self._edits[at]
        if index < edit.new_end:
            return edit.old, edit.old_end
        old = edit.old_end + index - edit.new_end
        return old, old + 1


def normalize(text: str) -> Normalized:
    """The text in compatibility form without invisible characters.  ASCII is not copied."""
    return _rewrite(text, _plain)


def skeleton(text: str) -> Normalized:
    """The text as its letters look: also homoglyphs, accents and odd blanks.  ASCII as it is."""
    return _rewrite(text, _look)


def _rewrite(text: str, form: Callable[[str], str]) -> Normalized:
    if text.isascii():
        return Normalized(text, [])
    parts: list[str] = []
    edits: list[_Edit] = []
    at = length = 0
    for start, old in _clusters(text):
        new = form(old)
        if new == old:
            continue
        parts += (text[at:start], new)
        length += start - at
        at = start + len(old)
        if len(old) > 1 or len(new) != 1:
            edits.append(_Edit(length, length + len(new), start, at))
        length += len(new)
    parts.append(text[at:])
    return Normalized("".join(parts), edits)


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Everything but plain characters, in order, each with its place and combining marks."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        if start and _MARK.match(text, start):  # the run's first mark belongs to a plain letter
            start -= 1
        if end - start == 1:
            yield start, text[start]
            continue
        for cluster in _CLUSTER.finditer(text, start, end):
            yield cluster.start(), cluster.group()


@lru_cache(_CACHED_CLUSTERS)
def _plain(cluster: str) -> str:
    if _INVISIBLE_RUN.match(cluster):
        smuggled = "".join(chr(ord(c) - _TAG_BASE) for c in cluster if ord(c) in _PRINTABLE_TAGS)
        # Set apart, so that "hello" before it does not make another word of its first one.
        return f" {smuggled} " if len(smuggled) > 1 else smuggled
    return _DROPPED.sub("", unicodedata.normalize("NFKC", cluster))


@lru_cache(_CACHED_CLUSTERS)
def _look(cluster: str) -> str:
    parts = unicodedata.normalize("NFKD", _plain(cluster))
    letters = "".join(HOMOGLYPHS.get(c, " " if c.isspace() else c) for c in parts)
    bare = _MARK.sub("", letters)
    # Only letters that became Latin lose their marks: й or が without theirs is another letter.
    return bare if bare.isascii() else unicodedata.normalize("NFKC", parts)
