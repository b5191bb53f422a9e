"""From pydantic's complaints to Problems at their place, with the remedy.

Used for every document that an operator writes: policies and the configuration.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ..detectors.options import MISTAKE, mistake
from .problem import Problem, quoted, suggestion
from .source import Path, Source

__all__ = ["dotted", "is_many", "keys", "mistake", "model_at", "model_in", "problems"]

_REMEDIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "string_type": ("it must be a text", 'put it in "quotes"'),
        "int_type": ("it must be a whole number", "write digits only"),
        "int_parsing": ("it must be a whole number", "write digits only"),
        "int_from_float": ("it must be a whole number", "leave out the fraction"),
        "float_type": ("it must be a number", "write a number such as 0.5"),
        "float_parsing": ("it must be a number", "write a number such as 0.5"),
        "bool_type": ("it must be true or false", "write true or false"),
        "bool_parsing": ("it must be true or false", "write true or false"),
        "model_type": ("it must be a map of keys and values", "write `key: value` lines under it"),
        "dict_type": ("it must be a map of keys and values", "write `key: value` lines under it"),
        "tuple_type": ("it must be a list", "write it as [a, b]"),
        "greater_than": ("it must be greater than {gt}", "write a larger number"),
        "greater_than_equal": ("it must be at least {ge}", "write a larger number"),
        "less_than_equal": ("it must be at most {le}", "write a smaller number"),
        "too_short": ("it needs at least {min_length} item", "add one"),
        "too_long": ("it may have at most {max_length} items", "leave some out"),
        "string_too_short": ("it must not be empty", "write a text"),
        "string_too_long": ("it may have at most {max_length} characters", "shorten it"),
        "literal_error": ("it must be {expected}", "use one of them"),
        "enum": ("it must be {expected}", "use one of them"),
        "is_instance_of": ("it must name a file", "write its path as a text"),
    }
)


def dotted(path: Path) -> str:
    """The path as people write it: `rules[2].kinds[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"


def problems(
    error: ValidationError,
    source: Source,
    model: type[BaseModel],
    secret: frozenset[str] = frozenset(),
    at: Path = (),
) -> Iterator[Problem]:
    """Each complaint as a Problem; values at or under a key in `secret` are never quoted.

    `at` is where in the source the model's own keys stand.
    """
    for detail in error.errors(include_url=False):
        path = detail["loc"] = (*at, *detail["loc"])
        if path and path[-1] == "[key]":
            yield _bad_name(detail, path[:-1], source)
        elif detail["type"] == "extra_forbidden":
            yield _unknown(path, source, model_at(model, path[len(at) : -1]))
        elif detail["type"] == "missing":
            fix = f"add `{path[-1]}:`"
            what = f"{dotted(path)} is missing"
            yield source.key(path).problem(what, "it has no default", fix)
        else:
            yield _wrong(detail, source, hide=not secret.isdisjoint(path))


def _unknown(path: Path, source: Source, owner: type[BaseModel] | None) -> Problem:
    known = keys(owner) if owner else []
    why = f"{dotted(path[:-1])} has no such key"
    return source.key(path).problem(
        f"{dotted(path)} is unknown", why, suggestion(str(path[-1]), known)
    )


def _bad_name(detail: ErrorDetails, path: Path, source: Source) -> Problem:
    why, fix = _words(detail)
    return source.key(path).problem(f"the name {quoted(path[-1])} is not usable", why, fix)


def _wrong(detail: ErrorDetails, source: Source, *, hide: bool) -> Problem:
    why, fix = _words(detail)
    path, value = detail["loc"], detail["input"]
    hide = hide or bool(detail.get("ctx", {}).get("hide"))
    state = "is not usable" if hide else "is empty" if value is None else f"is {_shown(value)}"
    return source.value(path).problem(f"{dotted(path)} {state}", why, fix)


def _shown(value: object) -> str:
    """Maps and lists by their nature only: something secret may stand in them."""
    if isinstance(value, dict):
        return "a map"
    return "a list" if isinstance(value, (list, tuple)) else quoted(value)


def _words(detail: ErrorDetails) -> tuple[str, str]:
    context = detail.get("ctx", {})
    if detail["type"] == MISTAKE:
        return context["why"], context["fix"]
    sort = detail["type"]
    if sort in ("too_short", "too_long") and isinstance(detail["input"], str):
        sort = f"string_{sort}"  # pydantic's name for it behind a validator of our own
    if sort in _REMEDIES:
        why, fix = _REMEDIES[sort]
        return why.format(**context), fix
    return detail["msg"].replace("Input should", "it must"), "correct it"


def keys(model: type[BaseModel]) -> list[str]:
    """The keys as they are written in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def model_at(model: type[BaseModel] | None, path: Path) -> type[BaseModel] | None:
    """The model that describes what stands at `path`, or None if no model does."""
    named = False
    for part in path:
        if named or model is None:
            named = False  # a name in a map or an index in a list: its model is at hand
            continue
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        annotation = fields[str(part)].annotation if part in fields else None
        named, model = is_many(annotation), model_in(annotation)
    return model


def is_many(annotation: Any) -> bool:
    """Whether it is a map or a list, perhaps an optional one."""
    if get_origin(annotation) in (tuple, Mapping):
        return True
    return any(is_many(part) for part in get_args(annotation))


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model inside `X`, `X | None`, `Mapping[str, X]` or `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (model_in(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)
