"""Disguises and slips that normalising does not undo, put on texts of both labels.

On both, so that the disguise alone is no sign of an attack.  What `normalize` and `unwrap` see
through (width, look-alikes, invisible characters, encodings, s p a c e d letters) needs none.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from .dice import Dice

_LEET: Mapping[str, str] = {
    "a": "4@",
    "b": "8",
    "e": "3",
    "g": "96",
    "i": "1!",
    "l": "1|",
    "o": "0",
    "s": "5$",
    "t": "7+",
    "z": "2",
}
_WORD = re.compile(r"[^\W\d_]{4,}")
_LETTER = re.compile(r"[a-z]", re.IGNORECASE)
_HAN_PAIR = re.compile(r"(?<=[\u3040-\u30ff\u4e00-\u9fff])(?=[\u3040-\u30ff\u4e00-\u9fff])")
_TURNED_CASE = 0.5


def leet(text: str, dice: Dice) -> str:
    """Digits and signs in place of letters; how many differs from text to text."""
    share = 0.4 + 0.2 * dice.below(4)

    def sign(match: re.Match[str]) -> str:
        signs = _LEET.get(match[0].lower(), "")
        return dice.of(signs) if signs and dice.happens(share) else match[0]

    return _LETTER.sub(sign, text)


def scrambled(text: str, dice: Dice) -> str:
    """Words whose inner letters change places: what people read without noticing."""

    def mixed(match: re.Match[str]) -> str:
        word = match[0]
        return word[0] + "".join(dice.shuffled(word[1:-1])) + word[-1]

    return _WORD.sub(mixed, text)


def slips(text: str, dice: Dice) -> str:
    """Typing errors: in every third long word a letter is lost, doubled or swapped."""

    def slip(match: re.Match[str]) -> str:
        word = match[0]
        if not dice.happens(0.35):
            return word
        at = 1 + dice.below(len(word) - 2)
        changed = (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
        return dice.of(changed)

    return _WORD.sub(slip, text)


def split(text: str, dice: Dice) -> str:
    """Words cut by a blank, hyphen or dot: "ig nore", "instruc-tions"."""
    sign = dice.of((" ", "-", ".", "_"))

    def cut(match: re.Match[str]) -> str:
        word = match[0]
        at = 2 + dice.below(len(word) - 3)
        return word[:at] + sign + word[at:] if dice.happens(0.6) else word

    return _WORD.sub(cut, text)


def stretched(text: str, dice: Dice) -> str:
    """Vowels drawn out: "ignooore"."""

    def stretch(match: re.Match[str]) -> str:
        return match[0] * (2 + dice.below(3)) if dice.happens(0.25) else match[0]

    return re.sub(r"[aeiouy]", stretch, text)


def joined(text: str, dice: Dice) -> str:
    """Words without blanks, or with another sign for them: "ignore_all_rules"."""
    return text.replace(" ", dice.of(("_", "-", ".", "+", "/", "")))


def apart(text: str, dice: Dice) -> str:
    """Signs between Chinese and Japanese characters."""
    sign = dice.of((" ", "*", "-", ".", "、", "|"))
    return _HAN_PAIR.sub(sign, text)


KINDS: Mapping[str, Callable[[str, Dice], str]] = MappingProxyType(
    {
        "leet": leet,
        "scrambled": scrambled,
        "slips": slips,
        "split": split,
        "stretched": stretched,
        "joined": joined,
        "apart": apart,
    }
)
"""Every disguise, by name."""

_USUAL = ("leet", "leet", "scrambled", "scrambled", "scrambled", "slips", "split", "stretched")


def disguised(text: str, dice: Dice) -> str:
    """The text in one disguise that suits its script, or in none if there is none."""
    if _HAN_PAIR.search(text):
        return apart(text, dice)
    return KINDS[dice.of((*_USUAL, "joined"))](text, dice)
