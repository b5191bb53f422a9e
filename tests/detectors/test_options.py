from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tidegate.detectors.options import READER, ModelFile, Options, Text, TextFile


class Some(Options):
    words: TextFile | None = None
    model: ModelFile | None = None


class Files:
    """A reader of two files."""

    def text(self, name: str) -> str:
        if name != "words.txt":
            raise ValueError(f"{name}: there is none")
        return "one\ntwo"

    def path(self, name: str) -> Path:
        if name != "model.onnx":
            raise ValueError(f"{name}: there is none")
        return Path("/folder", name)


def read(**options: Any) -> Some:
    return Some.model_validate(options, context={READER: Files()})


def complaint(context: object, **options: Any) -> dict[str, Any]:
    with pytest.raises(ValidationError) as caught:
        Some.model_validate(options, context=context)
    [error] = caught.value.errors()
    return dict(error)


def test_a_text_file_is_its_name_and_its_text() -> None:
    assert read(words="words.txt").words == Text("words.txt", "one\ntwo")


def test_a_model_file_is_its_path() -> None:
    assert read(model="model.onnx").model == Path("/folder/model.onnx")


def test_what_was_made_is_taken_as_it_is() -> None:
    made = Some(words=Text("w", "one"), model=Path("m"))

    assert (made.words, made.model) == (Text("w", "one"), Path("m"))


@pytest.mark.parametrize("key", ["words", "model"])
def test_a_file_that_cannot_be_had_is_a_mistake_with_the_readers_reason(key: str) -> None:
    error = complaint({READER: Files()}, **{key: "none"})

    assert error["loc"] == (key,)
    assert error["ctx"]["why"] == "none: there is none"


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_names_no_file_is_a_mistake(name: str) -> None:
    assert complaint({READER: Files()}, words=name)["ctx"]["why"] == "it must name a file"


@pytest.mark.parametrize("value", [["words.txt"], {"name": "w", "text": "t"}, 5])
def test_neither_lists_nor_maps_stand_for_a_file(value: object) -> None:
    assert complaint({READER: Files()}, words=value)["type"] == "is_instance_of"


def test_without_a_reader_no_name_is_resolved() -> None:
    assert complaint(None, words="words.txt")["type"] == "is_instance_of"


def test_unknown_keys_are_mistakes_and_nothing_changes() -> None:
    with pytest.raises(ValidationError):
        read().words = Text("w", "")

    assert complaint(None, wrods="x")["type"] == "extra_forbidden"
