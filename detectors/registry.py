"""Detectors by name: installed ones are found by entry point, and only named ones are imported.

An installed package must not become active by being installed, so nothing is imported but what
the configuration names.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

from pydantic import BaseModel

from .detector import Detector

GROUP = "tidegate.detectors"
"""The entry-point group; a value is a class, called with its options if it has any."""

Maker = Callable[..., Detector]
"""A detector's class."""

Installed = Mapping[str, tuple[EntryPoint, ...]]
"""All claims to each name."""


def installed(entries: Iterable[EntryPoint] | None = None) -> Installed:
    """What is there, by name; nothing of it is imported."""
    known: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=GROUP) if entries is None else entries:
        known[entry.name] = (*known.get(entry.name, ()), entry)
    return known


def maker(name: str, known: Installed) -> Maker:
    """The class of the named detector, imported: that may take a second (PII does).

    Raises:
        ValueError: the name is not known, or is claimed by two packages.
        Exception: whatever the import raises.

    """
    claims = known.get(name, ())
    if not claims:
        raise ValueError(
            f"detector {name!r} is not known; installed are: {', '.join(sorted(known)) or 'none'}"
        )
    if len({claim.value for claim in claims}) > 1:
        raise ValueError(
            f"detector {name!r} is claimed by several packages: "
            f"{', '.join(sorted(claim.value for claim in claims))}; uninstall all but one"
        )
    found: Maker = claims[0].load()
    return found


def options_of(made: Maker) -> type[BaseModel] | None:
    """The model of a class's options; None if it takes none.

    Raises ValueError if it would take unknown keys: a misspelt option would have no effect.
    """
    model = getattr(made, "Options", None)
    if model is None:
        return None
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ValueError("its Options are no pydantic model")  # noqa: TRY004 - as the others
    if model.model_config.get("extra") != "forbid":
        raise ValueError("its Options do not forbid unknown keys")
    return model


def make(name: str, made: Maker, options: BaseModel | None = None) -> Detector:
    """The detector, with its options if it takes any.

    Raises:
        ValueError: it calls itself otherwise.
        Exception: whatever its class raises, ValueError where its options do not fit each other.

    """
    detector = made() if options is None else made(options)
    if detector.name != name:
        raise ValueError(f"detector {name!r} calls itself {detector.name!r}; the names must agree")
    return detector
