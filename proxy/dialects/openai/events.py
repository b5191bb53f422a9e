"""The events of a stream: `chat.completion.chunk` and `text_completion` objects."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson

from ...errors import EngineFailed
from ..base import Channel, StreamEvent, Usage

DONE = b"[DONE]"

_CODE = re.compile(r"[A-Za-z_]{1,64}|[0-9]{1,6}", re.ASCII)
"""Error codes that may be told: words of an API or a number, too plain to carry a text."""


class _Function(msgspec.Struct, gc=False):
    arguments: str | None = None


class _Call(msgspec.Struct, gc=False):
    index: int = 0
    function: _Function | None = None


class _Delta(msgspec.Struct, gc=False):
    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: _Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    usage: Usage | None = None
    error: msgspec.Raw = msgspec.Raw(b"")


_decode = msgspec.json.Decoder(_Chunk).decode
_LAST = StreamEvent(last=True)
_CONTENT = tuple(Channel(index, "content") for index in range(16))
"""Made once: a channel is named for every token."""


def read(data: bytes) -> StreamEvent:
    """Read one event's data.

    Raises:
        EngineFailed: it is neither `[DONE]` nor JSON of the known shape.

    """
    if data == DONE:
        return _LAST
    try:
        chunk = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EngineFailed("bad_stream", "an event of the engine is not of this API") from error
    if chunk.error and bytes(chunk.error) != b"null":
        return StreamEvent(error=_describe(bytes(chunk.error)))
    choices = chunk.choices
    if len(choices) == 1:
        choice = choices[0]
        delta = choice.delta
        if delta is not None and delta.content and _plain(choice, delta):
            return StreamEvent(
                ((_CONTENT[choice.index], delta.content),),
                ((choice.index, choice.finish_reason),) if choice.finish_reason else (),
                chunk.usage,
            )
    parts = [part for choice in choices for part in _parts(choice)]
    finished = [(c.index, c.finish_reason) for c in choices if c.finish_reason]
    return StreamEvent(parts, finished, chunk.usage, chunk.usage is not None and not choices)


def _plain(choice: _Choice, delta: _Delta) -> bool:
    """Whether the content is all the text there is, in a choice of a usual number."""
    return 0 <= choice.index < len(_CONTENT) and not (
        choice.text
        or delta.tool_calls
        or delta.reasoning_content
        or delta.reasoning
        or delta.refusal
        or delta.function_call
    )


def _parts(choice: _Choice) -> Iterable[tuple[Channel, str]]:
    if choice.text:
        yield Channel(choice.index, "text"), choice.text
    delta = choice.delta
    if delta is None:
        return
    for name in ("content", "refusal", "reasoning", "reasoning_content"):
        if text := getattr(delta, name):
            yield Channel(choice.index, name), text
    if delta.function_call is not None and delta.function_call.arguments:
        yield Channel(choice.index, "function"), delta.function_call.arguments
    for call in delta.tool_calls or ():
        if call.function is not None and call.function.arguments:
            yield Channel(choice.index, "tool", call.index), call.function.arguments


def edit(data: bytes, texts: Mapping[Channel, str]) -> bytes:
    """The framed event with the texts of these channels replaced, and their logprobs dropped.

    Raises:
        EngineFailed: something in it besides its texts is not JSON or is nested too deep.

    """
    try:
        tree = orjson.loads(data)
        _replace(tree["choices"], texts)
        return frame(tree)
    except (orjson.JSONDecodeError, TypeError) as error:
        raise EngineFailed("bad_stream", "an event of the engine is not valid JSON") from error


def _replace(choices: Iterable[dict[str, Any]], texts: Mapping[Channel, str]) -> None:
    for choice in choices:
        index = choice.get("index", 0)
        for channel, text in texts.items():
            if channel.choice == index:
                _put(choice, channel, text)
                choice.pop("logprobs", None)


def _put(choice: dict[str, Any], channel: Channel, text: str) -> None:
    if channel.name == "text":
        choice["text"] = text
    elif channel.name == "function":
        choice["delta"]["function_call"]["arguments"] = text
    elif channel.name == "tool":
        for call in choice["delta"]["tool_calls"]:
            if call.get("index", 0) == channel.part:
                call["function"]["arguments"] = text
    else:
        choice["delta"][channel.name] = text


def frame(value: Any) -> bytes:
    """A value as one event on the wire."""
    return b"data: " + orjson.dumps(value) + b"\n\n"


def block(sample: bytes, choices: Iterable[int], usage: Usage | None) -> bytes:
    """The end of a stream that a policy stops: finish reasons, usage if asked, `[DONE]`."""
    head = _head(sample)
    is_text = head.get("object") == "text_completion"
    empty: dict[str, Any] = {"text": ""} if is_text else {"delta": {}}
    ends = [{"index": index, "finish_reason": "content_filter", **empty} for index in choices]
    out = [frame(head | {"choices": [end]}) for end in ends]
    if usage is not None:
        counts = {
            "prompt_tokens": max(usage.prompt_tokens, 0),
            "completion_tokens": max(usage.completion_tokens, 0),
        }
        total = {"total_tokens": sum(counts.values())}
        out.append(frame(head | {"choices": [], "usage": counts | total}))
    return b"".join(out) + b"data: " + DONE + b"\n\n"


def _head(sample: bytes) -> dict[str, str | int]:
    """What all events of a stream begin with, as far as a sample shows it."""
    try:
        tree = orjson.loads(sample)
    except orjson.JSONDecodeError:
        return {}
    names = ("id", "object", "created", "model")
    return {name: tree[name] for name in names if isinstance(tree.get(name), str | int)}


def _describe(raw: bytes) -> str:
    """What an engine says of its failure, without its words: they may quote the prompt."""
    try:
        error = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return "the engine reported an error"
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str | int) and _CODE.fullmatch(str(code)):
        return f"the engine reported an error (code {code})"
    return "the engine reported an error"
