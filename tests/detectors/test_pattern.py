import dataclasses
import re

import pytest

from tidegate.detectors import Pattern
from tidegate.detectors.pattern import CONTEXT_REACH, WORD


def test_a_pattern_stands_alone_unless_told_otherwise() -> None:
    pattern = Pattern("id", "kind", "a", 0.5)

    assert (pattern.left, pattern.right) == (WORD, WORD)
    assert (pattern.check, pattern.context, pattern.ignore_case) == (None, "", False)


def test_word_characters_are_those_of_ascii() -> None:
    word = re.compile(f"[{WORD}]")

    assert all(word.fullmatch(c) for c in "azAZ09_")
    assert not any(word.fullmatch(c) for c in "é世-٣ \n")


def test_contexts_are_looked_for_in_a_bounded_stretch() -> None:
    assert CONTEXT_REACH == 48


def test_a_pattern_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Pattern("id", "kind", "a", 0.5).score = 1.0  # type: ignore[misc]  # that is the point
