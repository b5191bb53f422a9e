"""What each head learns from: the corpus, carried in documents and disguised, with weights.

The caller's head tells attacks from what people ask; the third party's head tells orders from
documents, so there even an ordinary task inside a document is something to find.
"""

# ruff: noqa: RUF001 - Turkish letters are meant

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .augment import disguised
from .carriers import inserted, shaped
from .corpus import CALLER, THIRD_PARTY, Text
from .dice import Dice
from .senseless import texts as senseless

_SHORT = 400
"""Characters up to which an attack is put into documents; longer ones fill a document alone."""

_DOCUMENT = 1500
"""Characters of a document that carries something."""

_TASK = 220
"""Characters up to which a request is a task that might stand in a document."""

_ORDER = re.compile(
    r"(?i)^(?:please |can you |could you |help me |i need you to |i want you to )?"
    r"(?:write|tell|give|create|explain|translate|summari[sz]e|list|generate|help|describe|make"
    r"|find|convert|compose|rewrite|suggest|draft|calculate|compare|show|provide|design|plan"
    r"|recommend|book|send|add|remove|schreib|erklär|gib|nenne|übersetze|hilf|écris|explique"
    r"|donne|traduis|escribe|explica|dame|traduce|escreva|explique|scrivi|spiega|напиши|объясни"
    r"|переведи|составь|yaz|açıkla|viết|hãy)\b|^(?:请|帮我|写|翻译|解释|给我|列出|生成|介绍|推荐|告诉)"
    r"|(?:してください|して|教えて|書いて)[。.!?]?$|(?:해줘|해 줘|주세요|써줘|알려줘)[.!?]?$"
)
_PUBLIC_TASKS = 0.5
"""The part of the public sets' tasks that are put into documents; of our own, all."""

_PLAIN_QUESTIONS = frozenset({"t0_prompts", "gsm8k"})
"""Sets of long school questions: used for the caller's head at a lower weight."""


SENSELESS = 1400
"""Texts without sense that each head learns from."""


class Sample(NamedTuple):
    """A text for one head; `group` and `source` as in the corpus, of what it was made from."""

    text: str
    attack: bool
    weight: float
    group: int
    source: str
    family: str
    language: str
    disguised: bool = False
    """Whether it is a disguised copy."""


def for_caller(texts: Sequence[Text]) -> list[Sample]:
    """What the caller's head learns from, in a fixed order."""
    dice = Dice("caller")
    found: list[Sample] = []
    for text in texts:
        if text.channel != CALLER and text.attack:
            continue
        weight = _weight(text) * (1.0 if text.channel == CALLER else 0.5)
        found.append(_sample(text, text.text, weight))
        if dice.happens(_copies(text)):
            found.append(_disguised(text, weight, dice))
    return [*found, *_senseless()]


def for_third_party(texts: Sequence[Text]) -> list[Sample]:
    """What the third party's head learns from, in a fixed order."""
    dice = Dice("third party")
    documents = _Documents(texts, dice)
    found: list[Sample] = []
    for text in texts:
        weight = _weight(text)
        if text.attack:
            found += _attacks(text, weight, documents, dice)
        elif text.channel == THIRD_PARTY:
            found += _documents(text, weight, documents, dice)
        elif _is_task(text) and (text.own or dice.happens(_PUBLIC_TASKS)):
            carried = documents.carry(text.text, text.language)
            found.append(_sample(text, carried, 0.5, task=True))
    return [*found, *_senseless()]


def _senseless() -> Iterator[Sample]:
    for number, text in enumerate(senseless(SENSELESS)):
        yield Sample(text, False, 1.0, number, "own_senseless", "", "")


def _attacks(text: Text, weight: float, documents: "_Documents", dice: Dice) -> Iterator[Sample]:
    yield _sample(text, text.text, weight)
    if len(text.text) <= _SHORT and (text.own or dice.happens(0.5)):
        yield _sample(text, documents.carry(text.text, text.language), weight)
        if text.own:
            yield _sample(text, documents.carry(text.text, text.language), weight)
    if dice.happens(_copies(text)):
        yield _disguised(text, weight, dice)


def _documents(text: Text, weight: float, documents: "_Documents", dice: Dice) -> Iterator[Sample]:
    yield _sample(text, text.text, weight)
    piece = text.text[:_SHORT]
    if text.own or dice.happens(0.5):
        yield _sample(text, documents.carry(piece, text.language), weight)
    if text.own:
        yield _sample(text, documents.carry(piece, text.language), weight)
    if dice.happens(_copies(text)):
        yield _disguised(text, weight, dice)


class _Documents:
    """Ordinary documents by language, to put things into."""

    def __init__(self, texts: Iterable[Text], dice: Dice) -> None:
        self._dice = dice
        self._by_language: dict[str, list[str]] = {}
        for text in texts:
            if text.channel == THIRD_PARTY and not text.attack:
                piece = text.text[:_DOCUMENT]
                self._by_language.setdefault(text.language, []).append(piece)
        self._english = self._by_language.get("en", [""])

    def carry(self, text: str, language: str) -> str:
        """The text in a document of its language or in a made-up shape, or in both."""
        dice = self._dice
        if dice.happens(0.4):
            return shaped(text, dice)
        document = dice.of(self._by_language.get(language, self._english))
        whole = inserted(text, document, dice)
        return shaped(whole, dice) if dice.happens(0.25) else whole


def _sample(text: Text, shown: str, weight: float, *, task: bool = False) -> Sample:
    """A sample of the text as it is `shown`; a `task` in a document is one to find."""
    label = text.attack or task
    return Sample(shown, label, weight, text.group, text.source, text.family, text.language)


def _disguised(text: Text, weight: float, dice: Dice) -> Sample:
    made = _sample(text, disguised(text.text, dice), weight * 0.5)
    return made._replace(disguised=True)


def _weight(text: Text) -> float:
    if text.own:
        return 2.0
    return 0.5 if text.source in _PLAIN_QUESTIONS else 1.0


def _copies(text: Text) -> float:
    """How often a disguised copy is made."""
    if text.attack:
        return 0.8 if text.own else 0.3
    return 0.3 if text.own else 0.1


def _is_task(text: Text) -> bool:
    return len(text.text) <= _TASK and _ORDER.search(text.text) is not None
