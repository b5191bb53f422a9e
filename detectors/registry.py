"""Detectors by name: installed ones are found by entry point, and only named ones are imported.

An installed package must not become active by being installed, so nothing is imported but what
the configuration names.
"""

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from .detector import Detector

GROUP = "tidegate.detectors"
"""The entry-point group; a value is a class that is called without arguments."""


def load(
    names: Iterable[str], installed: Iterable[EntryPoint] | None = None
) -> dict[str, Detector]:
    """The named detectors, made, in the order of their names' first mention.

    Call it before serving: a detector may take a second to import (PII does).

    Raises:
        ValueError: a name is not known, is claimed by two packages, or its detector calls itself
            otherwise.

    """
    known: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP) if installed is None else installed:
        known.setdefault(entry.name, []).append(entry)
    return {name: _made(name, known) for name in dict.fromkeys(names)}


def _made(name: str, known: dict[str, list[EntryPoint]]) -> Detector:
    claims = known.get(name, [])
    if not claims:
        raise ValueError(
            f"detector {name!r} is not known; installed are: {', '.join(sorted(known)) or 'none'}"
        )
    if len({claim.value for claim in claims}) > 1:
        raise ValueError(
            f"detector {name!r} is claimed by several packages: "
            f"{', '.join(sorted(claim.value for claim in claims))}; uninstall all but one"
        )
    detector: Detector = claims[0].load()()
    if detector.name != name:
        raise ValueError(f"detector {name!r} calls itself {detector.name!r}; the names must agree")
    return detector
