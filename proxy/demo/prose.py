"""What an embedded engine says: a text that follows from the question alone, in small pieces.

Pure.  The same question always gives the same pieces, so the tour can tell what the proxy changed.
"""

import re
from dataclasses import dataclass

THINK_MS = 25
"""From the request to the first piece: long enough to be seen beside the proxy's own time."""
PACE_MS = 6
"""Between two pieces of an ordinary answer."""
SLOW_MS = 400
"""How long "think it over" thinks: time enough for the tour to kill the engine meanwhile."""
STORY_SENTENCES = 300
"""A "long story" takes about half a minute, so that a client can leave long before its end."""
STORY_PACE_MS = 10
ECHO_CHARS = 80
"""How much of the question an ordinary answer quotes."""
KEY_PIECE_CHARS = 3
"""A key is sent in pieces shorter than its tell-tale prefix: no single piece looks like a key."""

MADE_UP_KEY = "AKIA" + "Q3EGVZ7XH2MDNT5K"
"""In the shape of an AWS access key id (AKIA and 16 of A-Z2-7).  It opens nothing."""


@dataclass(frozen=True, slots=True)
class Script:
    """An answer: its pieces in order, joined without anything between them, and its pace."""

    pieces: tuple[str, ...]
    think_ms: int = THINK_MS
    pace_ms: int = PACE_MS

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.pieces)


def answer_to(question: str) -> Script:
    """Answer a question; what it asks for is found by plain words in it."""
    asked = question.lower()
    if "a secret" in asked:
        return _secret()
    if "long story" in asked:
        return Script(tuple(pieces(_story())), pace_ms=STORY_PACE_MS)
    quoted = " ".join(question.split())[:ECHO_CHARS]
    said = (
        f"Hello from the embedded engine! You wrote: “{quoted}”. That is worth a friendly answer."
    )
    return Script(tuple(pieces(said)), think_ms=SLOW_MS if "think it over" in asked else THINK_MS)


def pieces(text: str) -> list[str]:
    """Cut a text into token-like pieces: a word or part of one, with the white space before it."""
    return re.findall(r"\s*\S{1,7}|\s+$", text)


def _secret() -> Script:
    before, after = "Here is the access key you asked for: ", ". Keep it to yourself."
    key = [
        MADE_UP_KEY[at : at + KEY_PIECE_CHARS]
        for at in range(0, len(MADE_UP_KEY), KEY_PIECE_CHARS)
    ]
    return Script((*pieces(before.rstrip()), " ", *key, *pieces(after)))


def _story() -> str:
    return " ".join(
        f"On day {day} the tide came in, went out again, and nobody was in a hurry."
        for day in range(1, STORY_SENTENCES + 1)
    )
