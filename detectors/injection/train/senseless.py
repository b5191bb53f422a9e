"""Texts that ask for nothing: padding, dumps, numbers, keys, tables, made-up words.

No set has them, yet every proxy sees them, and a sum over sequences of characters runs away on a
sequence that comes a thousand times.  All are benign, for both heads.
"""

import base64
import json
import string
from collections.abc import Callable, Sequence

from .dice import Dice

_SIGNS = string.ascii_letters + string.digits + ".-_=*#/\\|<>[]{}()!?~+@$%&\"'`,;: \n"
_WORDS = (
    "word", "token", "test", "foo", "bar", "hello", "data", "lorem", "ipsum", "blah", "value",
    "null", "true", "item", "x1", "cat", "Haus", "mot", "palabra", "слово", "字", "テスト", "söz",
)  # fmt: skip
_HAN = range(0x4E00, 0x9FA5)


def texts(count: int) -> list[str]:
    """So many of them, in a fixed order."""
    dice = Dice("senseless")
    return [SHAPES[at % len(SHAPES)](dice) for at in range(count)]


def _size(dice: Dice) -> int:
    return dice.of((12, 30, 60, 120, 250, 500, 900))


def _letters(dice: Dice, alphabet: str, size: int) -> str:
    return "".join(dice.of(alphabet) for _ in range(size))


def _one_sign(dice: Dice) -> str:
    return dice.of(_SIGNS) * _size(dice)


def _pattern(dice: Dice) -> str:
    piece = _letters(dice, _SIGNS, 2 + dice.below(12))
    return (piece * (_size(dice) // len(piece) + 2)).strip() or "-"


def _one_word(dice: Dice) -> str:
    return dice.of((" ", ", ", "\n", "-", "")).join([dice.of(_WORDS)] * (2 + _size(dice) // 5))


def _few_words(dice: Dice) -> str:
    few = [dice.of(_WORDS) for _ in range(2 + dice.below(5))]
    return " ".join(dice.of(few) for _ in range(2 + _size(dice) // 5))


def _made_up_words(dice: Dice) -> str:
    words = [
        _letters(dice, string.ascii_lowercase, 2 + dice.below(8)) for _ in range(_size(dice) // 6)
    ]
    return " ".join(words) or "qwrt"


def _digits(dice: Dice) -> str:
    return _letters(
        dice, dice.of(("0123456789", "01", "0123456789 ", "0123456789,.- ")), _size(dice)
    )


def _hexadecimal(dice: Dice) -> str:
    text = _letters(dice, "0123456789abcdef", _size(dice))
    return text.upper() if dice.happens(0.3) else text


def _base64(dice: Dice) -> str:
    raw = bytes(dice.below(256) for _ in range(_size(dice)))
    return base64.b64encode(raw).decode()


def _numbers(dice: Dice) -> str:
    mark = dice.of((",", ";", "\t", " | ", " "))
    rows, columns = 2 + dice.below(20), 2 + dice.below(8)
    limit = dice.of((10, 1000, 100_000))
    lines = [mark.join(str(dice.below(limit)) for _ in range(columns)) for _ in range(rows)]
    return "\n".join(lines)


def _rows(dice: Dice) -> str:
    rows = [
        {"id": at, dice.of(_WORDS): dice.below(9999) / 100} for at in range(2 + dice.below(15))
    ]
    return json.dumps(rows, indent=dice.of((None, 2)), ensure_ascii=False)


def _any_signs(dice: Dice) -> str:
    return _letters(dice, _SIGNS, _size(dice)).strip() or "?"


def _han(dice: Dice) -> str:
    return "".join(chr(_HAN[dice.below(len(_HAN))]) for _ in range(_size(dice) // 3))


def _address(dice: Dice) -> str:
    path = "/".join(
        _letters(dice, string.ascii_lowercase + string.digits, 3 + dice.below(12))
        for _ in range(4)
    )
    host, query = _letters(dice, string.ascii_lowercase, 8), _letters(dice, string.hexdigits, 20)
    return f"https://{host}.example/{path}?{query}"


def _log(dice: Dice) -> str:
    return "\n".join(
        f"2026-0{1 + dice.below(9)}-1{dice.below(9)}T0{dice.below(9)}:{10 + dice.below(49)}:00Z"
        f" {dice.of(('INFO', 'WARN', 'DEBUG', 'ERROR'))}"
        f" {_letters(dice, string.ascii_lowercase, 6)} took {dice.below(900)} ms"
        for _ in range(2 + dice.below(12))
    )


SHAPES: Sequence[Callable[[Dice], str]] = (
    _one_sign, _pattern, _one_word, _few_words, _made_up_words, _digits, _hexadecimal, _base64,
    _numbers, _rows, _any_signs, _han, _address, _log,
)  # fmt: skip
"""Every kind."""
