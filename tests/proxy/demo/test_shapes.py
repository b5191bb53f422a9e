import base64
import struct
from typing import Any

import orjson
import pytest

from tidegate.proxy.demo import shapes
from tidegate.proxy.demo.shapes import Ask


def ask(body: dict[str, Any], *, chat: bool = True) -> Ask:
    return shapes.read_ask({"model": "m", **body}, chat=chat, id="id-1", engine="engine-a")


def chat(text: Any = "Hi", **more: Any) -> Ask:
    return ask({"messages": [{"role": "user", "content": text}], **more})


def events(chunks: list[bytes]) -> list[Any]:
    return [orjson.loads(chunk.removeprefix(b"data: ")) for chunk in chunks if b"{" in chunk]


def test_the_last_message_of_the_user_is_answered() -> None:
    asked = ask(
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "first"},
                {"role": "user", "content": "second"},
                {"role": "assistant", "content": None},
            ]
        }
    )

    assert "“second”" in asked.script.text
    assert asked.prompt_tokens == 4


def test_messages_without_a_user_are_answered_too() -> None:
    assert ask({"messages": [{"role": "system", "content": "Be brief."}]}).script.pieces


def test_text_parts_are_read_and_other_parts_passed_over() -> None:
    parts = [{"type": "text", "text": "part one"}, {"type": "image_url"}, "not a part"]

    assert "“part one”" in chat(parts).script.text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": ["text"]},
        {"messages": [{"role": "user", "content": "x"}], "n": 9},
        {"messages": [{"role": "user", "content": "x"}], "n": "1"},
        {"messages": [{"role": "user", "content": "x"}], "max_tokens": 0},
        {"messages": [{"role": "user", "content": "x"}], "max_tokens": True},
    ],
)
def test_a_wrong_chat_body_is_a_value_error(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        ask(body)


@pytest.mark.parametrize("prompt", [None, 1, [], ["a", "b"], [1]])
def test_a_wrong_prompt_is_a_value_error(prompt: Any) -> None:
    with pytest.raises(ValueError, match="prompt must be"):
        ask({"prompt": prompt}, chat=False)


def test_a_limit_cuts_the_answer_and_says_so() -> None:
    asked = chat(max_tokens=3)

    assert asked.finish == "length"
    assert asked.completion_tokens == 3


def test_a_chat_reply_has_a_message_for_each_choice_and_usage() -> None:
    asked = chat(n=2)
    reply = shapes.reply(asked)

    assert reply["object"] == "chat.completion"
    assert [choice["index"] for choice in reply["choices"]] == [0, 1]
    assert reply["choices"][1]["message"]["content"] == asked.script.text
    assert reply["usage"]["total_tokens"] == 1 + 2 * len(asked.script.pieces)


def test_a_completion_reply_has_text() -> None:
    asked = ask({"prompt": ["Hi"]}, chat=False)
    reply = shapes.reply(asked)

    assert reply["object"] == "text_completion"
    assert reply["choices"][0]["text"] == asked.script.text


def test_a_chat_stream_opens_with_a_role_and_ends_with_a_reason_and_done() -> None:
    asked = chat(stream=True)
    (first,) = events(shapes.opening(asked))
    (second,) = events(shapes.token(asked, "Hel"))
    closing = shapes.closing(asked)

    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert second["choices"][0]["delta"] == {"content": "Hel"}
    assert "usage" not in second
    assert [e["choices"][0]["finish_reason"] for e in events(closing)] == ["stop"]
    assert closing[-1] == b"data: [DONE]\n\n"


def test_usage_is_null_in_each_chunk_and_given_in_the_last_if_asked_for() -> None:
    asked = chat(stream=True, stream_options={"include_usage": True})
    (token,) = events(shapes.token(asked, "Hel"))
    *_, last = events(shapes.closing(asked))

    assert token["usage"] is None
    assert last["choices"] == []
    assert last["usage"] == shapes.usage(asked)


def test_a_completion_stream_carries_text_and_no_role() -> None:
    asked = ask({"prompt": "Hi", "stream": True, "stream_options": []}, chat=False)
    (token,) = events(shapes.token(asked, "Hel"))
    (end,) = events(shapes.closing(asked))

    assert shapes.opening(asked) == []
    assert token["choices"][0]["text"] == "Hel"
    assert end["choices"][0]["finish_reason"] == "stop"


def test_embeddings_follow_from_the_text() -> None:
    one = shapes.embeddings({"input": "a"})["data"][0]["embedding"]
    two = shapes.embeddings({"input": ["b", "a"]})["data"][1]["embedding"]

    assert len(one) == shapes.DIMENSIONS
    assert one == two


def test_embeddings_in_base64_hold_the_same_numbers() -> None:
    plain = shapes.embeddings({"input": "a"})["data"][0]["embedding"]
    packed = shapes.embeddings({"input": "a", "encoding_format": "base64"})["data"][0]["embedding"]

    assert list(struct.unpack("<8f", base64.b64decode(packed))) == plain


@pytest.mark.parametrize("given", [None, [], [1], 3])
def test_a_wrong_input_is_a_value_error(given: Any) -> None:
    with pytest.raises(ValueError, match="input must be"):
        shapes.embeddings({"input": given})


def test_an_error_names_its_code() -> None:
    assert shapes.error("no", "gone")["error"]["code"] == "gone"


def test_the_model_is_listed() -> None:
    assert shapes.models("m")["data"][0]["id"] == "m"
