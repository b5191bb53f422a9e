"""The reference of all keys, made from the models, for docs/configuration.md."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from ...policies.shape import is_many, model_in
from .document import Config
from .environ import PREFIX
from .values import Bytes, PositiveSeconds, Seconds

BEGIN = "<!-- reference: made by `python -m tidegate.proxy.config`, do not edit -->"
END = "<!-- end of reference -->"

_PLAIN: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"),
    (int, "whole number"),
    (float, "number"),
    (str, "text"),
    (SecretStr, "secret text"),
    (Path, "path"),
    (Any, "as the detector says"),
)
_SIZES = ((1, "B"), (1024, "KiB"), (1024**2, "MiB"))


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: how it is written in a file and in a variable, and what it means."""

    key: str
    type: str
    default: str
    variable: str
    description: str


def describe() -> tuple[Setting, ...]:
    """Every key that holds a value, in the order of the models; `<name>` is a name of yours."""
    return tuple(_settings(Config, ()))


def _settings(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[Setting]:
    for name, field in model.model_fields.items():
        at = (*path, field.alias or name)
        inner = model_in(field.annotation)
        if inner is None:
            if _is_map(field.annotation):
                at = (*at, "<name>")
            yield _setting(field, at)
        elif is_many(field.annotation):
            yield from _settings(inner, (*at, "<name>"))
        else:
            yield from _settings(inner, at)


def _setting(field: FieldInfo, path: tuple[str, ...]) -> Setting:
    variable = PREFIX + "__".join(
        "<NAME>" if part == "<name>" else part.upper().replace("-", "_") for part in path
    )
    sort = _sort(field)
    default = "required" if field.is_required() else _default(field.default, sort)
    return Setting(".".join(path), sort, default, variable, field.description or "")


def _is_map(annotation: Any) -> bool:
    return get_origin(annotation) is Mapping


def _sort(field: FieldInfo) -> str:
    """The type in words."""
    for sort, name in ((Seconds, "duration"), (PositiveSeconds, "duration"), (Bytes, "size")):
        if any(part in field.metadata for part in _readers(sort)):
            return name
    return _words(field.annotation)


def _readers(sort: Any) -> tuple[Any, ...]:
    """The validators that make an annotated type what it is."""
    return tuple(part for part in get_args(sort)[1:] if hasattr(part, "func"))


def _words(annotation: Any) -> str:
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated or _is_map(annotation):
        return _words(inside[0] if origin is Annotated else inside[1])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inside)
    if origin is tuple:
        return f"list of {_words(inside[0])}s"
    if inside:  # X | None
        return _words(inside[0])
    return next(words for sort, words in _PLAIN if annotation is sort)


def _default(value: Any, sort: str) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(repr(part) for part in value)}]`"
    if sort == "duration":
        return f"`{value:g}s`"
    return f"`{_size(value)}`" if sort == "size" else f"`{value}`"


def _size(value: int) -> str:
    """The size in the largest unit that needs no fraction."""
    exact = [(size, unit) for size, unit in _SIZES if value % size == 0]
    size, unit = exact[-1]
    return f"{value // size}{unit}"


def render() -> str:
    """The reference as Markdown: a table for each top-level key."""
    lines: list[str] = []
    section = ""
    for setting in describe():
        top = setting.key.partition(".")[0]
        if top != section:
            section = top
            about = Config.model_fields[top].description or ""
            lines += ["", f"### {top}", "", about, ""]
            lines += ["| Key | Type | Default | Meaning |", "|---|---|---|---|"]
        key = f"`{setting.key}`<br>`{setting.variable}`"
        lines.append(f"| {key} | {setting.type} | {setting.default} | {setting.description} |")
    return "\n".join(lines).strip() + "\n"


def spliced(page: str) -> str:
    """The page with its reference made anew.  Raises ValueError if it has no place for one."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"the page needs the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{render()}\n{END}{after}"
