from typing import Any

import orjson
import pytest

from tidegate.proxy.dialects.base import Channel, StreamEvent, Usage
from tidegate.proxy.dialects.openai.events import block, edit, frame, model, read
from tidegate.proxy.errors import EngineFailed

HEAD = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(*choices: dict[str, Any], **members: Any) -> bytes:
    return orjson.dumps({**HEAD, "choices": choices, **members})


def delta(index: int = 0, finish: str | None = None, **members: Any) -> dict[str, Any]:
    return {"index": index, "delta": members, "finish_reason": finish}


def call(index: int, arguments: str | None) -> dict[str, Any]:
    return {"index": index, "function": {"name": "f", "arguments": arguments}}


def test_content_belongs_to_its_choice() -> None:
    assert StreamEvent(((Channel(2, "content"), "hi"),)) == read(chunk(delta(2, content="hi")))


@pytest.mark.parametrize("index", [-1, 16, 1000])
def test_choices_of_unusual_numbers_are_read_too(index: int) -> None:
    event = read(chunk(delta(index, content="hi")))

    assert [(Channel(index, "content"), "hi")] == event.parts


def test_the_end_of_a_choice_may_come_with_its_last_text() -> None:
    event = read(chunk(delta(1, "length", content="hi"), usage={"prompt_tokens": 3}))

    assert event.finished == ((1, "length"),)
    assert Usage(3, -1) == event.usage
    assert not event.usage_only


def test_every_text_of_an_event_has_its_channel() -> None:
    choices = [
        delta(
            0,
            "stop",
            content="a",
            refusal="b",
            reasoning="c",
            reasoning_content="d",
            audio={"transcript": "i", "data": "AAAA"},
            function_call={"arguments": "e"},
            tool_calls=[
                call(0, "f"),
                {"index": 1, "function": {"arguments": "g"}, "custom": None},
                call(2, ""),
                {"index": 3},
                {"index": 4, "custom": {"name": "n", "input": "o"}},
            ],
        ),
        {"index": 1, "text": "h", "finish_reason": None},
        delta(2, content="", role="assistant", function_call={"name": "f"}),
    ]
    event = read(chunk(*choices))

    assert event.parts == [
        (Channel(0, "content"), "a"),
        (Channel(0, "refusal"), "b"),
        (Channel(0, "reasoning"), "c"),
        (Channel(0, "reasoning_content"), "d"),
        (Channel(0, "audio"), "i"),
        (Channel(0, "function"), "e"),
        (Channel(0, "tool_name", 0), "f"),
        (Channel(0, "tool", 0), "f"),
        (Channel(0, "tool", 1), "g"),
        (Channel(0, "tool_name", 2), "f"),
        (Channel(0, "custom_name", 4), "n"),
        (Channel(0, "custom", 4), "o"),
        (Channel(1, "text"), "h"),
        (Channel(2, "function_name"), "f"),
    ]
    assert event.finished == [(0, "stop")]


@pytest.mark.parametrize(
    "other",
    [
        {"refusal": "b"},
        {"reasoning": "b"},
        {"reasoning_content": "b"},
        {"function_call": {"arguments": "b"}},
        {"tool_calls": [{"function": {"arguments": "b"}}]},
        {"tool_calls": [{"function": {"name": "b"}}]},
        {"audio": {"transcript": "b"}},
    ],
)
def test_content_hides_no_text_beside_it(other: dict[str, Any]) -> None:
    assert [text for _, text in read(chunk(delta(content="a", **other))).parts] == ["a", "b"]


def test_a_delta_hides_no_text_of_its_choice() -> None:
    event = read(chunk({**delta(content="a"), "text": "b"}))

    assert [text for _, text in event.parts] == ["b", "a"]


def test_usage_may_come_alone() -> None:
    event = read(chunk(usage={"prompt_tokens": 3, "completion_tokens": 4}))

    assert StreamEvent([], [], Usage(3, 4), usage_only=True) == event


def test_usage_needs_no_choices_beside_it() -> None:
    event = read(b'{"usage":{"prompt_tokens":3}}')

    assert (event.usage, event.usage_only) == (Usage(3, -1), True)


@pytest.mark.parametrize("data", [chunk(), chunk(usage=None), chunk(error=None)])
def test_an_event_without_text_is_fine(data: bytes) -> None:
    assert StreamEvent([], []) == read(data)


def test_the_end_marker_is_the_last_event() -> None:
    assert StreamEvent(last=True) == read(b"[DONE]")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"[DONE",
        b"{}",
        b'{"message":"PROMPT","object":"chat.completion.chunk"}',
        b'{"message":"PROMPT","object":"error","x":"\xff"}',
        b'{"usage":"PROMPT"}',
        b'"text"',
        b'{"choices":1}',
        b'{"choices":null}',
        b'{"choices":[{"index":"0"}]}',
        b'{"choices":[{"delta":{"content":["a"]}}]}',
        b'{"choices":[{"delta":{"content":"\xff"}}]}',
        b'{"x":NaN}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_is_not_of_the_api_is_the_engines_failure(data: bytes) -> None:
    with pytest.raises(EngineFailed) as caught:
        read(data)
    assert caught.value.code == "bad_stream"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            {"message": "PROMPT", "code": "context_length_exceeded"},
            " (code context_length_exceeded)",
        ),
        ({"message": "PROMPT", "code": 500}, " (code 500)"),
        ({"message": "PROMPT", "code": None}, ""),
        ({"message": "PROMPT"}, ""),
        ({"code": "PROMPT of the user"}, ""),
        ({"code": "你好"}, ""),
        ({"code": "A" * 65}, ""),
        ({"code": "4111111111111111"}, ""),
        ({"code": 4111111111111111}, ""),
        ({"code": ["PROMPT"]}, ""),
        ("PROMPT", ""),
        (["PROMPT"], ""),
        ({}, ""),
    ],
)
def test_an_error_is_told_without_the_engines_words(error: Any, told: str) -> None:
    assert f"the engine reported an error{told}" == read(chunk(error=error)).error


def test_an_error_that_cannot_be_read_is_one_all_the_same() -> None:
    assert read(b'{"error":{"a":"\xff"}}').error == "the engine reported an error"


def test_an_error_without_an_error_member_is_one() -> None:
    flat = orjson.dumps({"object": "error", "message": "PROMPT", "type": "x", "code": 400})

    assert read(flat).error == "the engine reported an error (code 400)"


@pytest.mark.parametrize(
    "usage",
    [4, "4", [], {}, {"prompt_tokens": None}, {"prompt_tokens": "4"}, {"prompt_tokens": -1}],
)
def test_a_usage_that_tells_nothing_fails_no_stream(usage: Any) -> None:
    assert read(chunk(delta(content="a"), usage=usage)).usage is None


def test_calls_of_one_number_are_one_text_and_are_edited_as_one() -> None:
    data = chunk(delta(tool_calls=[call(1, "ab"), call(0, "x"), call(1, "cd")]))
    edited = edit(data, {Channel(0, "tool", 1): "Z"})
    parts = dict(read(data).parts)

    assert (parts[Channel(0, "tool", 1)], parts[Channel(0, "tool", 0)]) == ("abcd", "x")
    assert edited == frame(
        orjson.loads(chunk(delta(tool_calls=[call(1, "Z"), call(0, "x"), call(1, "")])))
    )


def test_choices_of_one_number_are_edited_as_one() -> None:
    data = chunk(delta(content="a"), delta(content="b"))

    assert [(Channel(0, "content"), "ab")] == read(data).parts
    assert edit(data, {Channel(0, "content"): "Z"}) == frame(
        orjson.loads(chunk(delta(content="Z"), delta(content="")))
    )


def test_an_edit_of_one_call_leaves_the_others() -> None:
    bare = {"index": 0, "function": {"name": None}}
    data = chunk(delta(tool_calls=[{"index": 0}, bare, call(0, "a")]))
    expected = chunk(delta(tool_calls=[{"index": 0}, bare, call(0, "Z")]))

    assert edit(data, {Channel(0, "tool", 0): "Z"}) == frame(orjson.loads(expected))


def test_names_inputs_and_transcripts_can_be_edited() -> None:
    def event(texts: list[str], **sound: str) -> bytes:
        a, b, c, d, e, f = texts
        calls = [
            {"index": 0, "function": {"name": a, "arguments": b}},
            {"index": 0, "custom": {"name": c, "input": d}},
        ]
        return chunk(
            delta(audio={"transcript": e, **sound}, function_call={"name": f}, tool_calls=calls)
        )

    names = ("tool_name", "tool", "custom_name", "custom", "audio", "function_name")
    texts = {Channel(0, name): text for name, text in zip(names, "ABCDEF", strict=True)}

    assert edit(event([*"abcdef"], data="AAAA"), texts) == frame(orjson.loads(event([*"ABCDEF"])))


def test_an_edit_changes_the_texts_it_names_and_no_others() -> None:
    choices = [
        {
            **delta(0, content="a", reasoning="r", tool_calls=[call(0, "x"), call(1, "y")]),
            "logprobs": {},
        },
        {"index": 1, "text": "t", "logprobs": {"tokens": ["t"]}},
        {**delta(2, function_call={"name": "f", "arguments": "g"}), "logprobs": {"content": []}},
    ]
    edited = edit(
        chunk(*choices, usage=None),
        {
            Channel(0, "reasoning"): "R",
            Channel(0, "tool", 1): "Y",
            Channel(1, "text"): "T",
            Channel(2, "function"): "G",
        },
    )

    assert edited == frame(
        {
            **HEAD,
            "choices": [
                delta(0, content="a", reasoning="R", tool_calls=[call(0, "x"), call(1, "Y")]),
                {"index": 1, "text": "T"},
                delta(2, function_call={"name": "f", "arguments": "G"}),
            ],
            "usage": None,
        }
    )


def test_a_number_that_is_left_out_is_zero() -> None:
    data = chunk({"delta": {"content": "c", "tool_calls": [{"function": {"arguments": "z"}}]}})
    edited = edit(data, {Channel(0, "tool"): "Z", Channel(1, "content"): "other"})

    assert data.replace(b"z", b"Z") == edited[6:-2]


@pytest.mark.parametrize(
    "junk", [b'"\xff"', b"1e999", b"[" * 600 + b"]" * 600, b"[" * 2000 + b"]" * 2000]
)
def test_an_event_that_cannot_be_edited_is_the_engines_failure(junk: bytes) -> None:
    data = chunk(delta(content="a"))[:-1] + b',"x":' + junk + b"}"

    with pytest.raises(EngineFailed) as caught:
        edit(data, {Channel(0, "content"): "b"})
    assert caught.value.code == "bad_stream"


def events(stream: bytes) -> list[Any]:
    parts = stream.split(b"\n\n")
    assert parts[-2:] == [b"data: [DONE]", b""]
    return [orjson.loads(part.removeprefix(b"data: ")) for part in parts[:-2]]


def test_a_block_ends_each_choice_and_the_stream() -> None:
    ends = [
        {**HEAD, "choices": [{"index": i, "finish_reason": "content_filter", "delta": {}}]}
        for i in (0, 2)
    ]

    assert ends == events(block(chunk(delta(content="a")), (0, 2), None))


def test_a_block_of_a_completion_has_its_shape() -> None:
    sample = orjson.dumps({"object": "text_completion", "choices": []})
    end = {"index": 0, "finish_reason": "content_filter", "text": ""}

    assert [{"object": "text_completion", "choices": [end]}] == events(block(sample, [0], None))


def test_a_block_tells_usage_that_is_known() -> None:
    stream = block(chunk(), [], Usage(5, -1))
    usage = {"prompt_tokens": 5, "completion_tokens": 0, "total_tokens": 5}

    assert [{**HEAD, "choices": [], "usage": usage}] == events(stream)


@pytest.mark.parametrize("sample", [b"", b'{"id":"\xff"}', b'{"id":[[1]],"model":null}'])
def test_a_block_needs_no_good_sample(sample: bytes) -> None:
    end = {"index": 0, "finish_reason": "content_filter", "delta": {}}

    assert [{"choices": [end]}] == events(block(sample, [0], None))


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (chunk(), "m"),
        (b"{}", ""),
        (b"", ""),
        (b"[DONE]", ""),
        (b'{"model":5}', ""),
        (b'{"model":null}', ""),
        (b'{"model":"\xff"}', ""),
        (b'{"x":' + b"[" * 100_000, ""),
    ],
)
def test_the_model_is_what_an_event_says_and_nothing_where_it_says_none(
    data: bytes, name: str
) -> None:
    assert name == model(data)


def test_a_null_event_says_nothing() -> None:
    assert read(b"null") == StreamEvent(empty=True)
