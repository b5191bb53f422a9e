"""What the reader of the demo sees: plain text, a mark a step, colour only on a terminal."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

WIDTH = 96
INDENT = "     "


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that was seen.  `holds` is None where it is only shown, not judged."""

    text: str
    holds: bool | None = None


def wants_colour(out: TextIO, environ: Mapping[str, str]) -> bool:
    """Colour on a terminal, unless NO_COLOR (no-color.org) is set or it can show none."""
    return out.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class Report:
    """Writes to `out`, flushed line by line so that the reader can follow."""

    def __init__(self, out: TextIO, *, colour: bool) -> None:
        self._out = out
        self._colour = colour

    def line(self, text: str = "") -> None:
        """One line as it is."""
        self._out.write(text + "\n")
        self._out.flush()

    def title(self, text: str) -> None:
        """Begin a part of the demo."""
        self.line()
        self.line(self._paint("1", text))

    def prose(self, text: str) -> None:
        """Write a paragraph, wrapped."""
        for row in textwrap.wrap(text, WIDTH - len(INDENT)):
            self.line(self._paint("2", INDENT + row))

    def fact(self, fact: Fact) -> None:
        """Write what was seen, with a mark if it was judged."""
        colour, mark = {None: ("0", "·"), True: ("32", "✓"), False: ("31", "✗")}[fact.holds]
        self.line(f"{INDENT}{self._paint(colour, mark)} {_printable(fact.text)}")

    def verdict(self, text: str, *, good: bool) -> None:
        """Write how a step or the whole came out."""
        mark, colour = ("✓", "1;32") if good else ("✗", "1;31")
        self.line(self._paint(colour, f"  {mark}  {text}"))

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def _printable(text: str) -> str:
    """Keep control characters of an answer from the reader's terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
