"""What an operator can set about a detector, and the files that settings may name.

A detector that takes options has a model `Options` as class attribute, made of this module's
`Options`, and is called with an instance of it.  Detectors read no files: a field of the type
`TextFile` holds the text of the file that the operator named, one of the type `ModelFile` the
path of a file that is there.  Both are resolved by whoever loads the detector, through a `Reader`
in pydantic's validation context; without one, only made objects are taken, no names.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, InstanceOf, ValidationInfo
from pydantic_core import PydanticCustomError

MISTAKE = "mistake"
"""The error type of `mistake`."""

READER = "reader"
"""The key of the Reader in the validation context."""


def mistake(why: str, fix: str, *, hide: bool = False) -> PydanticCustomError:
    """What a validator raises: reason and remedy; `hide` keeps the value out of the message."""
    return PydanticCustomError(MISTAKE, "{why}, {fix}", {"why": why, "fix": fix, "hide": hide})


class Options(BaseModel):
    """Base of a detector's options: unknown keys are mistakes, nothing changes after reading."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class Text:
    """The content of a text file, and how the operator named it."""

    name: str
    text: str


class Reader(Protocol):
    """Resolves the names of files; names are relative to the configuration file's folder."""

    def text(self, name: str) -> str:
        """The file's text.  Raises ValueError with the reason if it cannot be had."""

    def path(self, name: str) -> Path:
        """The path of a file that can be opened.  Raises ValueError with the reason if none."""


def _text(value: Any, info: ValidationInfo) -> Any:
    reader = _reader(value, info)
    if reader is None:
        return value
    try:
        return Text(value, reader.text(value))
    except ValueError as error:
        raise mistake(str(error), "correct the path or the file") from None


def _model(value: Any, info: ValidationInfo) -> Any:
    reader = _reader(value, info)
    if reader is None:
        return value
    try:
        return reader.path(value)
    except ValueError as error:
        raise mistake(str(error), "correct the path") from None


def _reader(value: Any, info: ValidationInfo) -> Reader | None:
    """Who resolves the value; nobody if it is no name of a file, or there is none."""
    if not isinstance(value, str):
        return None
    if not value or "\0" in value:
        raise mistake("it must name a file", "write its path, relative to the configuration file")
    reader: Reader | None = (info.context or {}).get(READER)
    return reader


TextFile = Annotated[InstanceOf[Text], BeforeValidator(_text)]
"""A text file, read: a word list, a YAML or JSON document."""
ModelFile = Annotated[InstanceOf[Path], BeforeValidator(_model)]
"""A file that is there, for the detector to open while it is made: a model's weights."""
