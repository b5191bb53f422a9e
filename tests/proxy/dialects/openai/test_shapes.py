import msgspec
import orjson
import pytest

from tidegate.proxy.dialects.openai.shapes import Audio, Call, Custom, Function, Texts

SAID = {
    "content": "a",
    "refusal": "b",
    "reasoning": "c",
    "reasoning_content": "d",
    "function_call": {"name": "e", "arguments": "f"},
    "audio": {"transcript": "g"},
}


def test_what_is_said_has_the_names_of_the_api_and_other_members_do_not_matter() -> None:
    message = orjson.dumps({**SAID, "role": "assistant", "annotations": []})

    assert msgspec.json.decode(message, type=Texts) == Texts(
        "a", "b", "c", "d", Function("f", "e"), Audio("g")
    )


def test_a_call_is_of_a_function_or_of_a_custom_tool() -> None:
    calls = [
        {"id": "1", "type": "function", "function": {"name": "a", "arguments": "b"}},
        {"id": "2", "type": "custom", "custom": {"name": "c", "input": "d"}},
    ]

    assert msgspec.json.decode(orjson.dumps(calls), type=list[Call]) == [
        Call(function=Function("b", "a")),
        Call(custom=Custom("d", "c")),
    ]


@pytest.mark.parametrize("member", SAID)
def test_a_text_that_is_no_text_is_not_read(member: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(orjson.dumps({member: 5}), type=Texts)
