from typing import Any

import orjson
import pytest

from tidegate.detectors import Segment, Source, Trust
from tidegate.proxy.dialects.base import Answer, Usage
from tidegate.proxy.dialects.openai.answers import MOST_MESSAGE, edit, error_message, put
from tidegate.proxy.dialects.openai.answers import read as read_answer
from tidegate.proxy.errors import EngineFailed

MESSAGE = {
    "role": "assistant",
    "content": "a",
    "refusal": "b",
    "reasoning": "c",
    "reasoning_content": "d",
    "audio": {"transcript": "s", "data": "AAAA"},
    "function_call": {"name": "p", "arguments": "e"},
    "tool_calls": [
        {"function": {"name": "q", "arguments": "f"}},
        {"type": "custom"},
        {"custom": {"name": "r", "input": "i"}},
    ],
}


def read(data: bytes, member: str = "choices") -> Answer:
    return read_answer(data, member)


def body(*choices: dict[str, Any], **members: Any) -> bytes:
    return orjson.dumps({"choices": choices, **members})


def model(text: str, source: Source, *at: str | int) -> Segment:
    return Segment(text, ("choices", *at), source, Trust.MODEL)


def test_every_text_of_an_answer_is_read() -> None:
    answer = read(
        body({"message": MESSAGE, "finish_reason": "stop"}, {"text": "g"}, {}, model="m")
    )

    assert answer.segments == [
        model("a", Source.ASSISTANT, 0, "message", "content"),
        model("b", Source.ASSISTANT, 0, "message", "refusal"),
        model("c", Source.REASONING, 0, "message", "reasoning"),
        model("d", Source.REASONING, 0, "message", "reasoning_content"),
        model("s", Source.ASSISTANT, 0, "message", "audio", "transcript"),
        model("p", Source.TOOL_CALL, 0, "message", "function_call", "name"),
        model("e", Source.TOOL_CALL, 0, "message", "function_call", "arguments"),
        model("q", Source.TOOL_CALL, 0, "message", "tool_calls", 0, "function", "name"),
        model("f", Source.TOOL_CALL, 0, "message", "tool_calls", 0, "function", "arguments"),
        model("r", Source.TOOL_CALL, 0, "message", "tool_calls", 2, "custom", "name"),
        model("i", Source.TOOL_CALL, 0, "message", "tool_calls", 2, "custom", "input"),
        model("g", Source.ASSISTANT, 1, "text"),
    ]
    assert (answer.model, answer.finish_reasons, answer.usage) == ("m", ["stop"], None)


def test_a_plain_answer_has_one_text() -> None:
    plain = {"message": {"role": "assistant", "content": "a"}}

    assert [model("a", Source.ASSISTANT, 0, "message", "content")] == read(body(plain)).segments


def test_usage_is_read_as_far_as_it_is_given() -> None:
    embeddings = b'{"data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":4,"total_tokens":4}}'

    assert Usage(4, -1) == read(embeddings, "data").usage
    assert read(embeddings, "data").segments == []
    assert Usage(1, 2) == read(body(usage={"prompt_tokens": 1, "completion_tokens": 2})).usage


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"choices":null}',
        b'{"message":"PROMPT","object":"chat.completion"}',
        b'{"message":"PROMPT","x":"\xff"}',
        b'{"data":["PROMPT"]}',
        b'{"data":"PROMPT"}',
        b'{"data":[]}',
        b'{"choices":[{"message":{"content":[{"text":"a"}]}}]}',
        b'{"choices":[{"message":{"content":"\xff"}}]}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_is_not_of_the_api_is_the_engines_failure(data: bytes) -> None:
    with pytest.raises(EngineFailed) as caught:
        read(data)
    assert caught.value.code == "bad_answer"


@pytest.mark.parametrize("data", [b'{"choices":[]}', b'{"data":["PROMPT"]}', b'{"data":null}'])
def test_embeddings_without_data_are_the_engines_failure(data: bytes) -> None:
    with pytest.raises(EngineFailed) as caught:
        read(data, "data")
    assert caught.value.code == "bad_answer"


@pytest.mark.parametrize(
    "data",
    [
        {"error": {"message": "PROMPT", "code": 500}},
        {"object": "error", "message": "PROMPT", "code": 500},
        {"choices": [], "error": {"message": "PROMPT", "code": 500}},
    ],
)
def test_an_error_in_place_of_an_answer_is_told_without_its_words(data: Any) -> None:
    with pytest.raises(
        EngineFailed, match=r"^the engine reported an error \(code 500\)$"
    ) as caught:
        read(orjson.dumps(data))
    assert caught.value.code == "engine_error"


@pytest.mark.parametrize("usage", [None, 4, "4", [], {}, {"prompt_tokens": None}])
def test_a_usage_that_tells_nothing_fails_no_answer(usage: Any) -> None:
    assert read(body({"text": "a"}, usage=usage, error=None)).usage is None


def test_the_sound_of_a_changed_transcript_goes() -> None:
    data = body({"message": {"audio": {"id": "1", "transcript": "a", "data": "AAAA"}}})
    place = ("choices", 0, "message", "audio", "transcript")

    assert edit(data, {place: "b"}, blocked=False) == body(
        {"message": {"audio": {"id": "1", "transcript": "b"}}}
    )


def test_an_edit_changes_its_texts_and_drops_what_repeats_them() -> None:
    data = body(
        {"message": {"content": "a"}, "logprobs": {"x": "a"}},
        {"message": {"content": "b"}, "logprobs": {"x": "b"}},
        id="1",
    )
    edited = edit(data, {("choices", 0, "message", "content"): "A"}, blocked=False)

    assert edited == body(
        {"message": {"content": "A"}},
        {"message": {"content": "b"}, "logprobs": {"x": "b"}},
        id="1",
    )


def test_a_blocked_answer_ends_as_filtered_and_calls_no_tool() -> None:
    data = body({"message": MESSAGE, "logprobs": {}, "finish_reason": "stop"}, {"text": "t"})
    edited = orjson.loads(edit(data, {("choices", 1, "text"): ""}, blocked=True))
    first, second = edited["choices"]

    assert second == {"text": "", "finish_reason": "content_filter"}
    assert (first["finish_reason"], "logprobs" in first) == ("content_filter", False)
    assert not {"tool_calls", "function_call", "audio"} & set(first["message"])


@pytest.mark.parametrize("junk", [b'"\xff"', b"1e999", b"[" * 600 + b"]" * 600])
def test_an_answer_that_cannot_be_edited_is_the_engines_failure(junk: bytes) -> None:
    data = body({"text": "a"})[:-1] + b',"x":' + junk + b"}"

    with pytest.raises(EngineFailed) as caught:
        edit(data, {("choices", 0, "text"): "b"}, blocked=False)
    assert caught.value.code == "bad_answer"


@pytest.mark.parametrize(
    "data",
    [
        {"error": {"message": "why", "code": 1}},
        {"error": "why"},
        {"message": "why", "object": "error"},
    ],
)
def test_an_engines_reason_is_found_in_any_shape(data: Any) -> None:
    assert error_message(orjson.dumps(data)) == "why"


@pytest.mark.parametrize(
    "data",
    [b"", b"<html>", b"[]", b"{}", b'{"error":{"message":1}}', b'{"error":""}', b'{"error":[]}'],
)
def test_an_engine_without_reason_is_said_to_give_none(data: bytes) -> None:
    assert error_message(data) == "the engine refused the request and gave no reason"


def test_an_engines_reason_is_cut() -> None:
    assert len(error_message(orjson.dumps({"error": "x" * 9000}))) == MOST_MESSAGE


def test_a_text_is_put_at_its_path() -> None:
    tree = {"a": [{"b": "c"}]}
    put(tree, ("a", 0, "b"), "d")

    assert tree == {"a": [{"b": "d"}]}
