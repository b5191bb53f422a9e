"""What is wrong with something an operator wrote, said so that it can be repaired at once.

A Problem is for people: it names the place, the value, the reason and the remedy.  It MUST NOT
hold a secret; whoever makes one leaves the value out where it may be secret.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

MOST_PROBLEMS = 50
"""More than this at once is one cause repeated, and nobody reads on."""
MOST_NAMES = 8
"""How many known names a message lists when none is close."""
SHOWN = 60
"""How many characters of a value a message quotes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written; line and column count from 1.

    With line 0 it is a whole file or an environment variable.
    """

    file: str
    line: int = 0
    column: int = 0

    def problem(self, what: str, why: str, fix: str) -> "Problem":
        """A problem at this place."""
        return Problem(self.file, self.line, self.column, what, why, fix)


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake.  Line and column count from 1; line 0 means that `file` has no lines."""

    file: str
    line: int
    column: int
    what: str
    why: str
    fix: str

    def __str__(self) -> str:
        """`file:line:column: what, why, fix`, on one line."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.what}, {self.why}, {self.fix}"


class Mistakes(Exception):
    """Everything that is wrong at once; `problems` holds at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = capped(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def capped(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems by place, variables last, at most MOST_PROBLEMS and a word about the rest."""
    ordered = sorted(set(problems), key=lambda p: (p.line == 0, p.file, p.line, p.column, p.what))
    rest = len(ordered) - MOST_PROBLEMS
    if rest <= 0:
        return tuple(ordered)
    first = ordered[0]
    more = Problem(
        first.file, 0, 0, f"{rest} more mistakes are not shown", "the list is long", "repair these"
    )
    return (*ordered[:MOST_PROBLEMS], more)


def suggestion(name: str, known: Collection[str]) -> str:
    """The remedy for a name that is not among `known`: the closest one, or a short list."""
    close = get_close_matches(name, sorted(known), n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not known:
        return "define it first"
    listed = sorted(known)
    more = ", …" if len(listed) > MOST_NAMES else ""
    return "use one of " + ", ".join(listed[:MOST_NAMES]) + more


def quoted(value: object) -> str:
    """The value as Python would write it, cut to SHOWN characters."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
