"""Where text stands in complete answers of the OpenAI API."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import orjson

from ....detectors import Segment, Source, Trust
from ...errors import EngineFailed
from ..base import Answer, Usage

Where = tuple[str | int, ...]

MOST_MESSAGE = 2000
"""Characters of an engine's error message that a client is told."""

_NO_REASON = "the engine refused the request and gave no reason"

_TEXTS = {
    "content": Source.ASSISTANT,
    "refusal": Source.ASSISTANT,
    "reasoning": Source.REASONING,
    "reasoning_content": Source.REASONING,
}


class _Function(msgspec.Struct):
    arguments: str | None = None


class _Call(msgspec.Struct):
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice] = []
    usage: Usage | None = None
    model: str | None = None


_decode = msgspec.json.Decoder(_Body).decode


def read(body: bytes) -> Answer:
    """Read a chat, completion or embedding answer.

    Raises:
        EngineFailed: the body is not JSON, or a text of it is not a string.

    """
    try:
        parsed = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EngineFailed("bad_answer", "the engine's answer is not of this API") from error
    segments = [
        Segment(text, ("choices", index, *at), source, Trust.MODEL)
        for index, choice in enumerate(parsed.choices)
        for at, text, source in _texts(choice)
        if text
    ]
    reasons = [c.finish_reason for c in parsed.choices if c.finish_reason]
    return Answer(segments, parsed.usage, reasons, parsed.model or "")


def _texts(choice: _Choice) -> Iterator[tuple[Where, str | None, Source]]:
    yield ("text",), choice.text, Source.ASSISTANT
    message = choice.message
    if message is None:
        return
    yield ("message", "content"), message.content, Source.ASSISTANT
    for name in ("refusal", "reasoning", "reasoning_content"):
        yield ("message", name), getattr(message, name), _TEXTS[name]
    if message.function_call is not None:
        at: Where = ("message", "function_call", "arguments")
        yield at, message.function_call.arguments, Source.TOOL_CALL
    for index, call in enumerate(message.tool_calls or ()):
        if call.function is not None:
            at = ("message", "tool_calls", index, "function", "arguments")
            yield at, call.function.arguments, Source.TOOL_CALL


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
        tree["choices"][at[1]].pop("logprobs", None)
    if blocked:
        for choice in tree["choices"]:
            choice["finish_reason"] = "content_filter"
            choice.pop("logprobs", None)
            message = choice.get("message")
            if isinstance(message, dict):
                message.pop("tool_calls", None)
                message.pop("function_call", None)


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
