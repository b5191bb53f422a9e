"""The events of a stream: `chat.completion.chunk` and `text_completion` objects."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson

from ...errors import EngineFailed
from ..base import Channel, StreamEvent, Usage, usage_of
from .shapes import Call, Custom, Function, Texts

DONE = b"[DONE]"
NOTHING = b"null"
"""What llama.cpp begins the stream of a completion with several prompts with."""

_MEMBERS = {
    "tool": "arguments",
    "tool_name": "name",
    "custom": "input",
    "custom_name": "name",
    "function": "arguments",
    "function_name": "name",
    "audio": "transcript",
}
"""The member that carries a channel's text, where it has another name."""

_CODE = re.compile(r"[A-Za-z_]{1,64}|[0-9]{1,6}", re.ASCII)
"""Error codes that may be told: words of an API or a number, too plain to carry a text."""


class _Call(Call, gc=False):
    index: int = 0


class _Delta(Texts, gc=False):
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: _Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | msgspec.UnsetType = msgspec.UNSET
    usage: Any = None
    error: msgspec.Raw = msgspec.Raw(b"")


class _Named(msgspec.Struct):
    model: str = ""


def model(data: bytes) -> str:
    """The model an event names, "" if it names none."""
    try:
        return msgspec.json.decode(data, type=_Named).model if data else ""
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


_decode = msgspec.json.Decoder(_Chunk).decode
_FIXED = {DONE: StreamEvent(last=True), NOTHING: StreamEvent(empty=True)}
_CONTENT = tuple(Channel(index, "content") for index in range(16))
"""Made once: a channel is named for every token."""


def read(data: bytes) -> StreamEvent:
    """Read one event's data.

    Raises:
        EngineFailed: it is neither `[DONE]` nor JSON of the known shape.

    """
    if (fixed := _FIXED.get(data)) is not None:
        return fixed
    try:
        chunk = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EngineFailed("bad_stream", "an event of the engine is not of this API") from error
    if chunk.error and bytes(chunk.error) != b"null":
        return StreamEvent(error=_describe_raw(bytes(chunk.error)))
    choices = chunk.choices
    usage = usage_of(chunk.usage) if chunk.usage is not None else None
    if choices is msgspec.UNSET:
        if usage is None:
            return _flat_error(data)
        choices = []
    if len(choices) == 1:
        choice = choices[0]
        delta = choice.delta
        if delta is not None and delta.content and _plain(choice, delta):
            return StreamEvent(
                ((_CONTENT[choice.index], delta.content),),
                ((choice.index, choice.finish_reason),) if choice.finish_reason else (),
                usage,
            )
    parts = _joined([part for choice in choices for part in _parts(choice)])
    finished = [(c.index, c.finish_reason) for c in choices if c.finish_reason]
    return StreamEvent(parts, finished, usage, usage is not None and not choices)


def _flat_error(data: bytes) -> StreamEvent:
    """An event of an error alone, as vLLM sends it: `{"object":"error","message":…,"code":…}`.

    Raises:
        EngineFailed: it is none, so nobody knows what it says.

    """
    try:
        tree = orjson.loads(data)
    except orjson.JSONDecodeError:
        tree = {}
    if tree.get("object") == "error":
        return StreamEvent(error=describe(tree))
    raise EngineFailed("bad_stream", "an event of the engine has neither choices nor usage")


def _plain(choice: _Choice, delta: _Delta) -> bool:
    """Whether the content is all the text there is, in a choice of a usual number."""
    return 0 <= choice.index < len(_CONTENT) and not (
        choice.text
        or delta.tool_calls
        or delta.reasoning_content
        or delta.reasoning
        or delta.refusal
        or delta.function_call
        or delta.audio
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
    if delta.audio is not None and delta.audio.transcript:
        yield Channel(choice.index, "audio"), delta.audio.transcript
    for channel, text in _called(delta):
        yield Channel(choice.index, *channel), text


def _called(delta: _Delta) -> Iterable[tuple[tuple[str, int], str]]:
    """The texts of all calls, each with the name and number of its channel."""
    for name, text in _calls(delta.function_call, "function", "arguments"):
        yield (name, 0), text
    for call in delta.tool_calls or ():
        for name, text in _calls(call.function, "tool", "arguments"):
            yield (name, call.index), text
        for name, text in _calls(call.custom, "custom", "input"):
            yield (name, call.index), text


def _calls(
    called: Function | Custom | None, channel: str, member: str
) -> Iterable[tuple[str, str]]:
    """What is called and what is handed over, each with the name of its channel."""
    if called is not None:
        if called.name:
            yield f"{channel}_name", called.name
        if text := getattr(called, member):
            yield channel, text


def _joined(parts: list[tuple[Channel, str]]) -> list[tuple[Channel, str]]:
    """One part a channel: two calls of one number are one call to who puts them together."""
    if len(parts) < 2:  # noqa: PLR2004 - one part has nothing to be joined to
        return parts
    texts: dict[Channel, str] = {}
    for channel, text in parts:
        texts[channel] = texts.get(channel, "") + text
    return list(texts.items())


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
    """Set each text at the first of its places, and empty the others: see `_joined`."""
    left = dict(texts)
    for choice in choices:
        index = choice.get("index", 0)
        for channel in texts:
            if channel.choice == index:
                for holder, member in _places(choice, channel):
                    holder[member] = left.get(channel, "")
                    left[channel] = ""
                choice.pop("logprobs", None)


def _places(choice: dict[str, Any], channel: Channel) -> Iterable[tuple[dict[str, Any], str]]:
    """The objects and members that carry text of a channel in a choice."""
    is_text = channel.name == "text"
    holders = (choice,) if is_text else _holders(choice.get("delta") or {}, channel)
    member = _MEMBERS.get(channel.name, channel.name)
    for holder in holders:
        if isinstance(holder.get(member), str):
            if channel.name == "audio":
                holder.pop("data", None)  # the sound says the same
            yield holder, member


def _holders(delta: dict[str, Any], channel: Channel) -> Iterable[dict[str, Any]]:
    kind = channel.name.removesuffix("_name")
    if kind in ("tool", "custom"):
        name = "function" if kind == "tool" else kind
        calls = delta.get("tool_calls") or ()
        return [c[name] for c in calls if c.get("index", 0) == channel.part and c.get(name)]
    if kind in ("function", "audio"):
        holder = delta.get("function_call" if kind == "function" else kind)
        return [holder] if holder else []
    return [delta]


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


def describe(error: Any) -> str:
    """What an engine says of its failure, without its words: they may quote the prompt."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str | int) and _CODE.fullmatch(str(code)):
        return f"the engine reported an error (code {code})"
    return "the engine reported an error"


def _describe_raw(raw: bytes) -> str:
    try:
        return describe(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return describe(None)
