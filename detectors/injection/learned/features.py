"""What the classifier looks at: hashed sequences of characters.

A text becomes one number a character (lower case, any digit as 0, any run of blanks as one blank),
and each place of it one bucket for each of ORDERS: that of the sequence of that many characters
which starts there.  All of it is numpy over the whole text, and linear in its length.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from .variants import SIMPLIFIED

ORDERS = (2, 3, 4, 5, 6)
"""Lengths of the sequences; each is made from the one before."""

BITS = 19
"""2**BITS buckets, shared by all lengths.  Bucket 0 is that of places past the end."""

REPEATS = range(1, 9)
"""A sequence that stands so many places before, too, is not counted again: what is repeated a
hundred times says no more than once."""

KNOWN = 0x20000
"""Characters from here on all count as the same one."""

Codes = npt.NDArray[np.uint64]
Buckets = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - BITS)
_BLANK = ord(" ")
_DIGIT = ord("0")
_SCRIPTS_WITH_FORMS = ((0, 0x3100), (0xA640, 0xABFF), (0xFE00, 0xFFFF), (0x10400, 0x10600))


def codes(text: str) -> Codes:
    """The text as numbers, with a blank at each end."""
    if text.isascii():
        words = text.encode("ascii").translate(_ascii()).split()
        return np.frombuffer(b" %b " % b" ".join(words), np.uint8).astype(np.uint64)
    found = _read(text)
    return found[_kept(found)]


def places(text: str) -> Places:
    """For each number of `codes` the place of its character in the text; -1 is before it.

    The last is that of the blank at the end, which may be the length of the text.
    """
    return np.flatnonzero(_kept(_read(text))) - 1


def buckets(numbers: Codes) -> Buckets:
    """The bucket of each sequence: a row for each order, a column for each place."""
    found = np.zeros((len(ORDERS), len(numbers)), np.uint64)
    row = numbers * _FACTOR
    order = 1
    for at, wanted in enumerate(ORDERS):
        while order < wanted:
            row = row[:-1] + numbers[order:]
            row *= _FACTOR
            order += 1
        found[at, : len(row)] = row
    found >>= _SHIFT
    longest = found[-1]
    again = np.zeros(len(numbers), np.bool_)
    for distance in REPEATS:
        again[distance:] |= longest[distance:] == longest[:-distance]
    found[:, again & (longest != 0)] = 0
    return found.view(np.int64)


def _read(text: str) -> Codes:
    data = np.frombuffer(f" {text} ".encode("utf-32-le", "surrogatepass"), np.uint32)
    return _table().take(data, mode="clip")


def _kept(found: Codes) -> npt.NDArray[np.bool_]:
    """All but the blanks that follow a blank."""
    kept: npt.NDArray[np.bool_] = found != _BLANK
    kept[1:] |= kept[:-1]
    kept[0] = True
    return kept


@cache
def _ascii() -> bytes:
    return bytes(_plain(code) for code in range(128)) + bytes(range(128, 256))


@cache
def _table() -> Codes:
    """What each character counts as.  Scripts without case or digits are left as they are."""
    table = np.arange(KNOWN, dtype=np.uint64)
    for start, end in _SCRIPTS_WITH_FORMS:
        table[start:end] = [_plain(code) for code in range(start, end)]
    for old, new in SIMPLIFIED.items():
        table[ord(old)] = ord(new)
    return table


def _plain(code: int) -> int:
    letter = chr(code)
    if letter.isspace() or code < _BLANK:
        return _BLANK
    if letter.isdecimal():
        return _DIGIT
    lower = letter.lower()
    return ord(lower) if len(lower) == 1 else code
