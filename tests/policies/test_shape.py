"""Pydantic's complaints as problems at their place."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tidegate.policies.shape import dotted, is_many, keys, mistake, model_at, problems
from tidegate.policies.source import load


def refuse(value: Any) -> Any:
    if value == "bad":
        raise mistake("it is bad", "write 'good'")
    if value == "hush":
        raise mistake("it is secret", "remove it", hide=True)
    return value


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, BeforeValidator(refuse), Field(max_length=5)] = ""
    for_: int = Field(default=1, alias="for", ge=0)
    api_key: str = ""
    even: Annotated[int, Field(multiple_of=2)] = 0


class Root(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["a", "b"] = "a"
    needed: bool
    leaf: Leaf | None = None
    named: Mapping[Annotated[str, BeforeValidator(refuse)], Leaf] = {}
    listed: tuple[Leaf, ...] = ()


def found(text: str) -> list[str]:
    source = load(text, "f")
    try:
        Root.model_validate(source.tree)
    except ValidationError as error:
        return [str(problem) for problem in problems(error, source, Root, frozenset({"api_key"}))]
    return []


def test_a_valid_document_has_no_problem() -> None:
    assert found("needed: true") == []


def test_an_unknown_key_is_shown_at_the_key_with_the_nearest_known_one() -> None:
    expected = "f:3:3: leaf.ulr is unknown, leaf has no such key, did you mean 'url'?"

    assert [expected] == found("needed: true\nleaf:\n  ulr: x")


def test_an_unknown_key_in_a_named_item_knows_the_keys_of_the_item() -> None:
    assert (found("needed: true\nnamed: {url: {fro: 1}}")) == [
        "f:2:15: named.url.fro is unknown, named.url has no such key, did you mean 'for'?"
    ]


def test_an_unknown_key_in_a_list_names_the_index() -> None:
    [problem] = found("needed: true\nlisted: [{}, {x: 1}]")

    assert problem.startswith("f:2:15: listed[1].x is unknown, listed[1] has no such key, use one")


def test_an_unknown_key_at_the_top_is_one_of_the_file() -> None:
    [problem] = found("needed: true\nkin: a")

    assert problem == "f:2:1: kin is unknown, the file has no such key, did you mean 'kind'?"


def test_a_missing_key_is_shown_where_it_belongs() -> None:
    assert found("kind: a") == ["f:1:1: needed is missing, it has no default, add `needed:`"]


def test_wrong_values_are_quoted_with_reason_and_remedy() -> None:
    lines = found("needed: perhaps\nkind: c\nleaf: {url: abcdefg, for: -1}")

    assert lines == [
        "f:2:7: kind is 'c', it must be 'a' or 'b', use one of them",
        "f:1:9: needed is 'perhaps', it must be true or false, write true or false",
        "f:3:13: leaf.url is 'abcdefg', it may have at most 5 characters, shorten it",
        "f:3:27: leaf.for is -1, it must be at least 0, write a larger number",
    ]


def test_maps_and_lists_are_not_quoted() -> None:
    lines = found("needed: true\nleaf: {url: {a: secret}}\nlisted: {a: secret}\nkind: [secret]")

    assert any(line.startswith("f:2:13: leaf.url is a map") for line in lines)
    assert any(line.startswith("f:3:9: listed is a map, it must be a list") for line in lines)
    assert any(line.startswith("f:4:7: kind is a list") for line in lines)
    assert not [line for line in lines if "secret" in line]


def test_an_empty_value_is_called_empty() -> None:
    [problem] = found("needed:\n")

    assert problem.startswith("f:1:8: needed is empty, it must be true or false")


def test_own_mistakes_bring_their_words() -> None:
    assert (found("needed: true\nleaf: {url: bad}")) == [
        "f:2:13: leaf.url is 'bad', it is bad, write 'good'"
    ]


def test_hidden_and_secret_values_are_not_quoted() -> None:
    lines = found("needed: true\nleaf: {url: hush, api_key: 12345}")

    assert lines == [
        "f:2:13: leaf.url is not usable, it is secret, remove it",
        'f:2:28: leaf.api_key is not usable, it must be a text, put it in "quotes"',
    ]


def test_a_bad_name_is_shown_at_the_name() -> None:
    assert (found("needed: true\nnamed: {bad: {}}")) == [
        "f:2:9: the name 'bad' is not usable, it is bad, write 'good'"
    ]


def test_a_complaint_without_words_of_ours_keeps_pydantics() -> None:
    assert (found("needed: true\nleaf: {even: 3}")) == [
        "f:2:14: leaf.even is 3, it must be a multiple of 2, correct it"
    ]


def test_paths_are_written_with_dots_and_brackets() -> None:
    assert dotted(("rules", 2, "kinds", 0)) == "rules[2].kinds[0]"
    assert dotted(()) == "the file"


def test_the_model_at_a_path_is_found() -> None:
    assert Leaf is model_at(Root, ("listed", 0))
    assert Leaf is model_at(Root, ("leaf",))
    assert None is model_at(Root, ("leaf", "url"))
    assert None is model_at(Root, ("nothing", "here"))


def test_keys_are_named_as_in_the_file() -> None:
    assert keys(Leaf) == ["url", "for", "api_key", "even"]


def test_an_optional_list_is_many() -> None:
    assert is_many(tuple[int, ...] | None)
    assert not is_many(int | None)


def test_a_model_may_describe_a_part_of_a_source() -> None:
    source = load("part:\n  leaf: {ulr: x, even: 3}\n", "f")
    with pytest.raises(ValidationError) as caught:
        Root.model_validate({"needed": True, **source.tree["part"]})
    told = [str(p) for p in problems(caught.value, source, Root, at=("part",))]

    assert [text.split(", ")[0] for text in told] == [
        "f:2:24: part.leaf.even is 3",
        "f:2:10: part.leaf.ulr is unknown",
    ]
