from typing import Any

import orjson
import pytest

from tidegate.proxy.dialects import Dialect
from tidegate.proxy.dialects.base import Channel, Reading, Usage
from tidegate.proxy.dialects.openai import OpenAI
from tidegate.proxy.errors import BadRequest, Refused

DIALECT: Dialect = OpenAI()


def reading(*, stream: bool = True, usage: bool = False) -> Reading:
    return Reading("m", stream, usage, 1, -1, (), ())


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/v1/chat/completions", "chat"),
        ("POST", "/chat/completions", "chat"),
        ("POST", "/v1/completions", "completions"),
        ("POST", "/v1/embeddings", "embeddings"),
        ("GET", "/v1/models", "models"),
        ("HEAD", "/models", "models"),
        ("GET", "/v1/models/m", "model"),
        ("GET", "/v1/models/org/m", "model"),
    ],
)
def test_an_endpoint_is_found_with_or_without_its_version(
    method: str, path: str, name: str
) -> None:
    assert name == DIALECT.endpoint(method, path).name


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/", "/v2/chat/completions", "/v1/responses", "/v1/models/", "/metrics"],
)
def test_another_path_is_not_served(path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        DIALECT.endpoint("POST", path)
    assert (caught.value.status, caught.value.code) == (404, "unknown_url")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/completions", "POST"),
        ("HEAD", "/v1/embeddings", "POST"),
        ("DELETE", "/v1/models/m", "GET, HEAD"),
    ],
)
def test_another_method_is_not_allowed_and_told_which_is(
    method: str, path: str, allowed: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        DIALECT.endpoint(method, path)
    assert (caught.value.status, caught.value.code) == (405, "method_not_allowed")
    assert caught.value.headers == (("Allow", allowed),)


@pytest.mark.parametrize("options", [None, {}, {"include_usage": False, "other": 1}])
def test_an_engine_is_always_asked_for_usage(options: Any) -> None:
    body: dict[str, Any] = {"model": "m", "stream_options": options}

    assert DIALECT.for_engine(body, reading(), "m")
    assert {**(options or {}), "include_usage": True} == body["stream_options"]


@pytest.mark.parametrize("read", [reading(usage=True), reading(stream=False)])
def test_what_an_engine_need_not_be_asked_stays(read: Reading) -> None:
    body = {"model": "m"}

    assert not DIALECT.for_engine(body, read, "m")
    assert body == {"model": "m"}


def test_an_engine_is_told_its_own_name_of_the_model() -> None:
    body = {"model": "m"}

    assert DIALECT.for_engine(body, reading(stream=False), "engine/m")
    assert body == {"model": "engine/m"}


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        (b'{"a":1,"usage":null}', b'{"a":1}'),
        (b'{"a": 1, "usage": null}', b'{"a": 1}'),
        (b'{"a":1,"usage":{"x":1}}', b'{"a":1,"usage":{"x":1}}'),
        (rb'{"a":",\"usage\":null"}', rb'{"a":",\"usage\":null"}'),
        (b'{"a":",","usage":null}', b'{"a":","}'),
    ],
)
def test_a_null_usage_is_dropped_but_never_in_a_text(raw: bytes, left: bytes) -> None:
    assert left == DIALECT.without_usage(raw)


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b'{"model":"e","x":1}', b'{"model":"c\\"","x":1}'),
        (b'{"model": "e"}', b'{"model": "c\\""}'),
        (b'{"model":"ee"}', b'{"model":"ee"}'),
        (rb'{"a":"\"model\":\"e\""}', rb'{"a":"\"model\":\"e\""}'),
    ],
)
def test_the_model_is_renamed_but_never_in_a_text(raw: bytes, named: bytes) -> None:
    assert named == DIALECT.renamed(raw, ("e", 'c"'))


def test_an_error_has_the_standard_members_and_its_details() -> None:
    error = Refused("content_filter", "no", param="messages[0]")
    standard = {
        "message": "no",
        "type": "invalid_request_error",
        "param": "messages[0]",
        "code": "content_filter",
    }

    assert {"error": {**standard, "x": 1}} == orjson.loads(DIALECT.error_body(error, {"x": 1}))
    assert b"data: " + orjson.dumps({"error": standard}) + b"\n\n" == DIALECT.error_event(error)


def test_models_are_listed_in_the_apis_shape() -> None:
    one = {"id": "m", "object": "model", "created": 7, "owned_by": "tidegate"}

    assert one == orjson.loads(DIALECT.model("m", 7))
    assert {"object": "list", "data": [one]} == orjson.loads(DIALECT.models(["m"], 7))


def test_answers_and_events_are_read_and_edited() -> None:
    answer, event = b'{"choices":[{"text":"a"}]}', b'{"choices":[{"index":0,"text":"a"}]}'

    chat, embeddings = (
        DIALECT.endpoint("POST", f"/v1/{name}") for name in ("chat/completions", "embeddings")
    )

    assert [s.text for s in DIALECT.answer(answer, chat).segments] == ["a"]
    assert DIALECT.answer(b'{"data":[]}', embeddings).segments == []
    assert (
        DIALECT.edit_answer(answer, {("choices", 0, "text"): "b"}, blocked=False)
        == b'{"choices":[{"text":"b"}]}'
    )
    assert [(Channel(0, "text"), "a")] == DIALECT.event_reader().read(event).parts
    assert DIALECT.model_of(b'{"model":"m"}') == "m"
    assert (
        DIALECT.edit_event(event, {Channel(0, "text"): "b"})
        == b'data: {"choices":[{"index":0,"text":"b"}]}\n\n'
    )
    assert DIALECT.block_events(b"", [0], Usage()).endswith(b"data: [DONE]\n\n")
    assert DIALECT.error_message(b'{"error":"why"}') == "why"
    assert DIALECT.name == "openai"
