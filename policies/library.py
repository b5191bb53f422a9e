"""The packs: policy files that come with Tidegate."""

from importlib.resources import files

_PACKS = files(__package__ or __name__) / "packs"


def names() -> tuple[str, ...]:
    """The names of all packs, sorted."""
    found = (entry.name for entry in _PACKS.iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def text(name: str) -> str:
    """The text of a pack.  Raises KeyError for a name that is not in `names()`."""
    if name not in names():
        raise KeyError(name)
    return (_PACKS / f"{name}.yaml").read_text("utf-8")
