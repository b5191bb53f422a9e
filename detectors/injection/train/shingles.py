"""How alike two texts are: the part of their shingles (6 words, or 12 characters) they share.

Texts of fewer than 12 words, as Chinese ones count, are cut by characters; still shorter ones are
one shingle, so that only the same words are alike.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from zlib import crc32

_WORDS = 6
_CHARACTERS = 12
_NO_WORD = re.compile(r"[\W_]+")
_NEAR = 0.4
"""Texts that share this part of the smaller one's shingles are near doubles."""

_MOST_HOLDERS = 24
"""Texts remembered for one shingle: what hundreds share joins them anyway, through the first."""


def plain(text: str) -> str:
    """The words alone: NFKC, lower case, single blanks."""
    return _NO_WORD.sub(" ", unicodedata.normalize("NFKC", text).lower()).strip()


def shingles(text: str) -> set[int]:
    """Hashes of the shingles of a text; never empty."""
    words = plain(text).split()
    if len(words) >= 2 * _WORDS:
        return {_hash(" ".join(words[at : at + _WORDS])) for at in range(len(words) - _WORDS + 1)}
    letters = "".join(words)
    if len(letters) >= 2 * _CHARACTERS:
        ends = range(len(letters) - _CHARACTERS + 1)
        return {_hash(letters[at : at + _CHARACTERS]) for at in ends}
    return {_hash(letters)}


class Seen:
    """The shingles of many texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._all: set[int] = set()
        for text in texts:
            self._all |= shingles(text)

    def share(self, text: str) -> float:
        """The part of the text's shingles that occur in them, 0 to 1."""
        own = shingles(text)
        return len(own & self._all) / len(own)


def clusters(texts: Sequence[str]) -> list[int]:
    """For each text the number of its cluster: the index of the first text in it."""
    sets = [shingles(text) for text in texts]
    first = list(range(len(texts)))
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for at, own in enumerate(sets):
        shared: Counter[int] = Counter()
        for shingle in own:
            shared.update(holders[shingle])
            if len(holders[shingle]) < _MOST_HOLDERS:
                holders[shingle].append(at)
        for other, count in shared.items():
            if count >= _NEAR * min(len(own), len(sets[other])):
                _join(first, at, other)
    return [_root(first, at) for at in range(len(texts))]


def _hash(text: str) -> int:
    data = text.encode("utf-8", "replace")
    return crc32(data) << 32 | crc32(data, 0x9E3779B9)


def _root(first: list[int], at: int) -> int:
    while first[at] != at:
        first[at] = first[first[at]]
        at = first[at]
    return at


def _join(first: list[int], one: int, other: int) -> None:
    low, high = sorted((_root(first, one), _root(first, other)))
    first[high] = low
