"""The part of a mistaken configuration that can still be read.

So that a misspelt key does not hide a reference to nothing: all mistakes are reported at once.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from ...policies.shape import is_many, model_in
from .document import Config


def readable(tree: Mapping[str, Any]) -> Config:
    """A configuration of the valid items and sections; of the rest the defaults, or nothing."""
    parts: dict[str, Any] = {}
    for name, field in Config.model_fields.items():
        model, given = model_in(field.annotation), tree.get(name)
        if model is not None and is_many(field.annotation) and isinstance(given, dict):
            parts[name] = dict(_items(given, model))
        elif given is not None and (section := _read(given, model)) is not None:
            parts[name] = section
        else:
            parts[name] = {} if field.is_required() else field.default
    return Config.model_construct(_fields_set=None, **parts)


def _items(given: Mapping[str, Any], model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        item = _read(value, model)
        if item is not None:
            yield name, item


def _read(value: Any, model: type[BaseModel] | None) -> BaseModel | None:
    try:
        return model.model_validate(value) if model else None
    except ValidationError:
        return None
