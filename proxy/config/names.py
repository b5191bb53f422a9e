"""Model names to routes, and names with `*` compared with each other.

Among the names of all routes that fit a model the narrowest wins: a plain name before any with
`*`, and `gpt-4-*` before `gpt-*`.  Two names that overlap without one lying inside the other
would leave it to chance, so the configuration may not hold them (`overlap`).
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import product

from .document import Route

STAR = "*"


class ModelNames:
    """Finds the route for a model name; made once from the configuration."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        listed = [(name, glob, route) for name, route in routes.items() for glob in route.models]
        # The narrower of two nested names has more plain characters.
        listed.sort(key=lambda item: (STAR in item[1], -_plain(item[1]), item[0]))
        self._listed = tuple(listed)

    def route(self, model: str, path: str) -> str | None:
        """The name of the route for this model on this API path; None if no route serves it."""
        for name, glob, route in self._listed:
            if (route.paths is None or path in route.paths) and matches(model, glob):
                return name
        return None


def matches(name: str, glob: str) -> bool:
    """Whether the name fits, `*` standing for any characters and nothing else being special."""
    return fnmatchcase(name, _escaped(glob)) if STAR in glob else name == glob


def _escaped(glob: str) -> str:
    """`?` and `[` stand for themselves; model names hold such characters."""
    return glob.replace("[", "[[]").replace("?", "[?]")


def _plain(glob: str) -> int:
    return len(glob) - glob.count(STAR)


def overlap(a: str, b: str) -> bool:
    """Whether some name fits both and neither is narrower than the other (or they are equal)."""
    if a == b:
        return True
    if STAR not in a or STAR not in b or matches(a, b) or matches(b, a):
        return False
    return _meet(a, b)


def _meet(a: str, b: str) -> bool:
    """Whether a name exists that fits both: both read at once, each `*` taking 0 or more."""
    reach = {(0, 0)}
    for i, j in product(range(len(a) + 1), range(len(b) + 1)):
        if (i, j) not in reach:
            continue
        x, y = a[i : i + 1], b[j : j + 1]
        if x == STAR:
            reach |= {(i + 1, j)} | ({(i, j + 1)} if y else set())
        if y == STAR:
            reach |= {(i, j + 1)} | ({(i + 1, j)} if x else set())
        if x and x == y:
            reach.add((i + 1, j + 1))
    return (len(a), len(b)) in reach
