"""What a text says when it is decoded: base64, hexadecimal, URL and HTML escapes, rot13, reversal.

A model follows an order in base64 as it follows a plain one, so rules are also asked of these
layers.  Everything is bounded: layers within layers to MAX_DEPTH, MAX_PIECES encoded pieces, and
MAX_CHARACTERS of text to read in all.  What lies beyond the bounds is not looked at.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

import re2

MAX_DEPTH = 3
MAX_PIECES = 64
MAX_CHARACTERS = 65_536

TRIGGERS = (
    r"[A-Za-z0-9+/_-]{24}",  # base64, hexadecimal
    r"(?:%[0-9A-Fa-f]{2}[^%\s]{0,2}){4}",
    r"(?:&(?:#[0-9]{2,7}|#[xX][0-9A-Fa-f]{2,6}|[a-zA-Z]{2,8});[^&]{0,2}){4}",
    r"(?:\\(?:x|u00)[0-9A-Fa-f]{2}[^\\]{0,2}){4}",
    r"(?:\b[0-9A-Fa-f]{2}[ :,]){12}",
    # rot13 and reversed forms of words that an attack can hardly do without
    r"(?i)\b(?:vtaber|qvfertneq|sbetrg|erirny|cerivbhf|vafgehpgvba|flfgrz cebzcg|wnvyoernx)",
    r"(?i)(?:snoitcurtsni|tpmorp metsys|tpmorp eht|erongi\b|drager?sid\b|suoiverp|laever\b)",
    # single letters with a separator between: i g n o r e
    r"(?:\b[A-Za-z][ ._*|-]{1,2}){7}[A-Za-z]\b",
)
"""RE2 expressions: if none occurs in a text, `unwrap` returns nothing for it."""

_BASE64 = re2.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}(?:\r?\n[A-Za-z0-9+/_-]{4,}={0,2})*")
_HEX = re2.compile(r"(?:[0-9A-Fa-f]{2}[ :,]?){12,}")
_URL = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY = re.compile(r"&(?:#[0-9]{2,7}|#[xX][0-9A-Fa-f]{2,6}|[a-zA-Z]{2,8});")
_ESCAPE = re.compile(r"\\(?:x|u00)([0-9A-Fa-f]{2})")
_SPACED = re2.compile(r"\b(?:[A-Za-z][ ._*|-]{1,3}){7,}[A-Za-z]\b")
_TURNED = re2.compile(TRIGGERS[5])
_BACKWARDS = re2.compile(TRIGGERS[6])
_ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
)
_TEXT_SHARE = 0.9
"""This much of a decoded piece must be printable, else it is data and not a message."""

_SHORTEST = 8
"""Bytes below which hexadecimal digits say nothing."""

_FEWEST_ESCAPES = 4
"""As in TRIGGERS."""


class Layer(NamedTuple):
    """A decoded text: `name` is how ("base64", "url>rot13"), start..end where it stood.

    The span is of the text given to `unwrap`, half-open in characters.
    """

    name: str
    text: str
    start: int
    end: int


def unwrap(text: str) -> list[Layer]:
    """All layers of the text, outermost first."""
    found: list[Layer] = []
    todo = [Layer("", text, 0, len(text))]
    left = MAX_CHARACTERS
    for _ in range(MAX_DEPTH):
        inner: list[Layer] = []
        for outer in todo:
            for name, piece, start, end in _pieces(outer.text):
                if len(found) >= MAX_PIECES or left <= 0:
                    return found
                span = (start, end) if outer.name == "" else (outer.start, outer.end)
                path = f"{outer.name}>{name}" if outer.name else name
                layer = Layer(path, piece[:left], *span)
                left -= len(layer.text)
                found.append(layer)
                inner.append(layer)
        todo = [layer for layer in inner if not _is_view(layer.name)]
    return found


def _is_view(name: str) -> bool:
    """Whether the layer's own reading would only undo it: rot13 of rot13."""
    return name.rpartition(">")[2] in ("rot13", "reversed", "spaced")


def _pieces(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Each coded piece of the text: how, what it says, and where it stands."""
    for match in _BASE64.finditer(text):
        if decoded := _base64(match.group()):
            yield "base64", decoded, match.start(), match.end()
    for match in _HEX.finditer(text):
        if decoded := _hex(match.group()):
            yield "hex", decoded, match.start(), match.end()
    for match in _SPACED.finditer(text):
        yield "spaced", _unspaced(match.group()), match.start(), match.end()
    for name, decoded in _readings(text):
        yield name, decoded, 0, len(text)


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Each other way to read the whole text: how, and what it says."""
    if len(_URL.findall(text)) >= _FEWEST_ESCAPES:
        yield "url", unquote(text, errors="replace").replace("+", " ")
    if len(_ENTITY.findall(text)) >= _FEWEST_ESCAPES:
        yield "html", unescape(text)
    if len(_ESCAPE.findall(text)) >= _FEWEST_ESCAPES:
        yield "escape", _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    if _TURNED.search(text):
        yield "rot13", text.translate(_ROT13)
    if _BACKWARDS.search(text):
        yield "reversed", text[::-1]


def _unspaced(text: str) -> str:
    """The letters joined; a wider gap, or another sign than the usual one, ends a word."""
    words = re.split(r"[ ._*|-]{2,3}", text)
    return " ".join(re.sub(r"[ ._*|-]", "", word) for word in words)


def _message(raw: bytes) -> str:
    """The bytes as text, or "" if they are none."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    printable = sum(c.isprintable() or c in "\t\r\n" for c in text[:1000])
    return text if printable >= _TEXT_SHARE * min(len(text), 1000) else ""


def _base64(piece: str) -> str:
    packed = re.sub(r"[\r\n=]", "", piece).replace("-", "+").replace("_", "/")
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]  # one sign more is no base64
    packed = packed[: MAX_CHARACTERS // 3 * 4]
    raw = base64.b64decode(packed + "=" * (-len(packed) % 4))
    return _message(raw)


def _hex(piece: str) -> str:
    digits = re.sub(r"[ :,]", "", piece)[: MAX_CHARACTERS * 2]
    return _message(binascii.unhexlify(digits)) if len(digits) >= 2 * _SHORTEST else ""
