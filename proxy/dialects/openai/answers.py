"""Where text stands in complete answers of the OpenAI API."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import orjson

from ....detectors import Segment, Source, Trust
from ...errors import EngineFailed
from ..base import Answer, Where, usage_of
from .events import describe
from .shapes import Call, Custom, Function, Texts

MOST_MESSAGE = 2000
"""Characters of an engine's error message that a client is told."""

_NO_REASON = "the engine refused the request and gave no reason"

_TEXTS = {
    "content": Source.ASSISTANT,
    "refusal": Source.ASSISTANT,
    "reasoning": Source.REASONING,
    "reasoning_content": Source.REASONING,
}


class _Message(Texts, gc=False):
    tool_calls: list[Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Embedding(msgspec.Struct):
    """Numbers, which are nobody's text."""


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    data: list[_Embedding] | None = None
    usage: Any = None
    model: str | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


_decode = msgspec.json.Decoder(_Body).decode


def read(body: bytes, member: str) -> Answer:
    """Read an answer that gives its results in this member: "choices", or "data" for embeddings.

    Raises:
        EngineFailed: the body is not JSON, a text of it is not a string, it has no such member, or
            it is an error.

    """
    try:
        parsed = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EngineFailed("bad_answer", "the engine's answer is not of this API") from error
    if bytes(parsed.error) != b"null" or getattr(parsed, member) is None:
        raise _failure(body, member)
    choices = parsed.choices or []
    segments = [
        Segment(text, ("choices", index, *at), source, Trust.MODEL)
        for index, choice in enumerate(choices)
        for at, text, source in _texts(choice)
        if text
    ]
    reasons = [c.finish_reason for c in choices if c.finish_reason]
    return Answer(segments, usage_of(parsed.usage), reasons, parsed.model or "")


def _failure(body: bytes, member: str) -> EngineFailed:
    """What an answer is that holds no answer: an error, told without its words, or nonsense."""
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError:
        tree = {}
    if tree.get("error") or tree.get("object") == "error":
        return EngineFailed("engine_error", describe(tree.get("error") or tree))
    return EngineFailed("bad_answer", f"the engine's answer has no {member}")


def _texts(choice: _Choice) -> Iterator[tuple[Where, str | None, Source]]:
    if choice.text:
        yield ("text",), choice.text, Source.ASSISTANT
    message = choice.message
    if message is None:
        return
    if message.content:
        yield ("message", "content"), message.content, Source.ASSISTANT
    for name in ("refusal", "reasoning", "reasoning_content"):
        if text := getattr(message, name):
            yield ("message", name), text, _TEXTS[name]
    if message.audio is not None:
        yield ("message", "audio", "transcript"), message.audio.transcript, Source.ASSISTANT
    if message.tool_calls or message.function_call is not None:
        yield from _calls(message)


def _calls(message: _Message) -> Iterator[tuple[Where, str | None, Source]]:
    called: list[tuple[Where, Function | Custom | None, str]] = [
        (("message", "function_call"), message.function_call, "arguments")
    ]
    for index, call in enumerate(message.tool_calls or ()):
        at: Where = ("message", "tool_calls", index)
        called.append(((*at, "function"), call.function, "arguments"))
        called.append(((*at, "custom"), call.custom, "input"))
    for at, call_of, member in called:
        if call_of is not None:
            yield (*at, "name"), call_of.name, Source.TOOL_CALL
            yield (*at, member), getattr(call_of, member), Source.TOOL_CALL


def edit(body: bytes, texts: Mapping[Where, str], *, blocked: bool) -> bytes:
    """The answer with these texts replaced; logprobs of a changed choice go, as they repeat it.

    A blocked answer ends every choice with the finish reason "content_filter".

    Raises:
        EngineFailed: something in it besides its texts is not JSON or is nested too deep.

    """
    try:
        tree = orjson.loads(body)
        _change(tree, texts, blocked=blocked)
        return orjson.dumps(tree)
    except (orjson.JSONDecodeError, TypeError) as error:
        raise EngineFailed("bad_answer", "the engine's answer is not valid JSON") from error


def _change(tree: Any, texts: Mapping[Where, str], *, blocked: bool) -> None:
    for at, text in texts.items():
        put(tree, at, text)
        if at[-2:] == ("audio", "transcript"):
            tree["choices"][at[1]]["message"]["audio"].pop("data", None)  # the sound says the same
        tree["choices"][at[1]].pop("logprobs", None)
    if blocked:
        for choice in tree["choices"]:
            choice["finish_reason"] = "content_filter"
            choice.pop("logprobs", None)
            message = choice.get("message")
            if isinstance(message, dict):
                message.pop("tool_calls", None)
                message.pop("function_call", None)
                message.pop("audio", None)


def error_message(body: bytes) -> str:
    """What an engine says is wrong with a request, in any of the shapes engines use."""
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _NO_REASON
    error = tree.get("error", tree) if isinstance(tree, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message[:MOST_MESSAGE] if isinstance(message, str) and message else _NO_REASON


def put(tree: Any, at: Where, text: str) -> None:
    """Set the string at a path that a reading gave."""
    for step in at[:-1]:
        tree = tree[step]
    tree[at[-1]] = text
