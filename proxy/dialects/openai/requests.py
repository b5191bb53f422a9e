"""Where text stands in the requests of the OpenAI API, and who says it.

Every string of a body is either inert (ids, enums, model names), a segment, or listed as
uninspected.  What is in no table is taken as a text of the caller: a field the proxy does not
know is inspected, not trusted.

Names of members are texts too: models are shown those of a tool's schema.  All names below one
member of the body that are not the API's own make one text, a name a line, and its place ends
in NAMES.
"""

import re
from typing import Any

from ....detectors import Segment, Source, Trust
from ...errors import BadRequest
from ..base import NAMES, Reading, Uninspected, Where, dotted

_ROLES = {
    "system": (Source.SYSTEM, Trust.OPERATOR),
    "developer": (Source.SYSTEM, Trust.OPERATOR),
    "user": (Source.USER, Trust.CALLER),
    "assistant": (Source.ASSISTANT, Trust.MODEL),
    "tool": (Source.TOOL_RESULT, Trust.THIRD_PARTY),
    "function": (Source.TOOL_RESULT, Trust.THIRD_PARTY),
}
_UNKNOWN_ROLE = (Source.DOCUMENT, Trust.THIRD_PARTY)
_CALLER = (Source.USER, Trust.CALLER)
_CALL = (Source.TOOL_CALL, Trust.MODEL)
_TOOL = (Source.TOOL_DEFINITION, Trust.THIRD_PARTY)

_INERT = frozenset(
    {
        *("model", "service_tier", "encoding_format", "reasoning_effort", "verbosity"),
        *("prompt_cache_key", "prompt_cache_retention", "modalities", "truncation"),
    }
)
_INERT_IN_MESSAGE = frozenset({"role", "tool_call_id", "id", "type"})
_INERT_IN_CALL = frozenset({"id", "type", "index"})
_MEDIA = {
    "image_url": "image",
    "image_embeds": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "audio_embeds": "audio",
    "file": "file",
    "video_url": "video",
}
_USUAL = (
    _INERT
    | _INERT_IN_MESSAGE
    | _INERT_IN_CALL
    | frozenset(_MEDIA)
    | frozenset(
        {
            *("messages", "prompt", "input", "content", "text", "name", "refusal", "audio"),
            *("reasoning", "reasoning_content", "tools", "tool_calls", "tool_choice", "functions"),
            *("function", "function_call", "arguments", "custom", "description", "parameters"),
            *("strict", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens"),
            *("temperature", "top_p", "stop", "suffix", "seed", "logprobs", "response_format"),
            *(
                "properties",
                "required",
                "enum",
                "items",
                "title",
                "default",
                "additionalProperties",
            ),
            *("anyOf", "json_schema", "schema", "metadata", "user", "url", "detail", "dimensions"),
        }
    )
)
"""Names of the API and of JSON Schema, which say nothing to a model: a shortcut, no more."""

_NAME = re.compile(r"[A-Za-z0-9_.:\-]{0,128}", re.ASCII)
"""What an id or an enum looks like.  Chat templates print some of them into the prompt, so one
that looks otherwise is a text."""


class _Collector:
    """Gathers the segments and uninspected parts of one body."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.uninspected: list[Uninspected] = []
        self._names: dict[tuple[Where, tuple[Source, Trust]], dict[str, None]] = {}

    def all_segments(self) -> list[Segment]:
        """The texts, and after them the names of members."""
        named = (
            Segment("\n".join(names), (*root, NAMES), *who)
            for (root, who), names in self._names.items()
        )
        return [*self.segments, *named]

    def name(self, name: str, root: Where, who: tuple[Source, Trust]) -> None:
        """The name of a member somewhere below a root."""
        if name not in _USUAL:
            self._names.setdefault((root, who), {})[name] = None

    def text(self, text: str, at: Where, who: tuple[Source, Trust]) -> None:
        if text:
            self.segments.append(Segment(text, at, *who))

    def inert(self, value: Any, at: Where, who: tuple[Source, Trust]) -> None:
        """An id or an enum, unless it is something else that only stands in its place."""
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            self.leaves(value, at, who)

    def leaves(self, node: Any, at: Where, who: tuple[Source, Trust]) -> None:
        """Every string and every member's name below a node."""
        if isinstance(node, str):
            self.text(node, at, who)
        elif isinstance(node, dict):
            root = _root(at)
            for key, value in node.items():
                self.name(key, root, who)
                self.leaves(value, (*at, key), who)
        elif isinstance(node, list):
            for index, value in enumerate(node):
                self.leaves(value, (*at, index), who)

    def media(self, node: Any, at: Where, kind: str) -> None:
        self.uninspected.append(Uninspected(at, kind, _size(node)))


def _root(at: Where) -> Where:
    """The member whose names make one text: one of a message, or one of the body."""
    return at[:3] if at[0] == "messages" else at[:1]


def chat(body: Any) -> Reading:
    """Read a chat completion request.  Raises BadRequest with the path of what is wrong."""
    _object(body)
    seen = _Collector()
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _wrong("messages", "a list of at least one message")
    for index, message in enumerate(messages):
        _message(message, index, seen)
    for key, value in body.items():
        if key in ("tools", "functions"):
            _tools(value, key, seen)
        elif key != "messages":
            _member(key, value, seen)
    return _reading(body, seen, len(messages))


def completion(body: Any) -> Reading:
    """Read a completion request: the prompt is a text, a list of texts, or token ids."""
    return _prompted(body, "prompt")


def embedding(body: Any) -> Reading:
    """Read an embedding request."""
    return _prompted(body, "input")


def _prompted(body: Any, name: str) -> Reading:
    _object(body)
    seen = _Collector()
    count = _prompt(body.get(name), name, seen)
    for key, value in body.items():
        if key != name:
            _member(key, value, seen)
    return _reading(body, seen, count)


def _member(key: str, value: Any, seen: _Collector) -> None:
    seen.name(key, (), _CALLER)
    if key not in _INERT:
        seen.leaves(value, (key,), _CALLER)
    elif key != "model":  # the router reads it; it is no part of a prompt
        seen.inert(value, (key,), _CALLER)


def _prompt(prompt: Any, name: str, seen: _Collector) -> int:
    """Collect the texts of a prompt; how many inputs it holds."""
    if isinstance(prompt, str):
        seen.text(prompt, (name,), _CALLER)
        return 1
    if not isinstance(prompt, list) or not prompt:
        raise _wrong(name, "a string, or a list of strings or of token ids")
    if all(_is_int(item) for item in prompt):
        seen.uninspected.append(Uninspected((name,), "tokens", len(prompt)))
        return 1
    for index, item in enumerate(prompt):
        if isinstance(item, str):
            seen.text(item, (name, index), _CALLER)
        elif isinstance(item, list) and all(_is_int(token) for token in item):
            seen.uninspected.append(Uninspected((name, index), "tokens", len(item)))
        else:
            raise _wrong(f"{name}[{index}]", "a string or a list of token ids")
    return len(prompt)


def _message(message: Any, index: int, seen: _Collector) -> None:
    at = f"messages[{index}]"
    if not isinstance(message, dict):
        raise _wrong(at, "an object")
    role = message.get("role")
    if not isinstance(role, str):
        raise _wrong(f"{at}.role", "a string")
    who = _ROLES.get(role, _UNKNOWN_ROLE)
    for key, value in message.items():
        where: Where = ("messages", index, key)
        seen.name(key, where[:2], who)
        if key == "content":
            _content(value, where, who, seen)
        elif key == "tool_calls":
            _tool_calls(value, where, seen)
        elif key == "audio":
            seen.media(value, where, "audio")
        elif key in _INERT_IN_MESSAGE and not (key == "role" and role not in _ROLES):
            seen.inert(value, where, who)
        else:
            seen.leaves(value, where, who)


def _content(content: Any, at: Where, who: tuple[Source, Trust], seen: _Collector) -> None:
    if isinstance(content, str):
        seen.text(content, at, who)
        return
    if content is None:
        return
    if not isinstance(content, list):
        raise _wrong(dotted(at), "a string, null, or a list of content parts")
    for index, part in enumerate(content):
        _part(part, (*at, index), who, seen)


def _part(part: Any, at: Where, who: tuple[Source, Trust], seen: _Collector) -> None:
    if isinstance(part, str):
        seen.text(part, at, who)
        return
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise _wrong(dotted(at), "a content part: an object with a string `type`")
    if part["type"] == "text" and not isinstance(part.get("text"), str):
        raise _wrong(f"{dotted(at)}.text", "a string")
    for key, value in part.items():
        seen.name(key, _root(at), who)
        if key in _MEDIA:
            seen.media(value, (*at, key), _MEDIA[key])
        elif key == "type":
            seen.inert(value, (*at, key), who)
        else:
            seen.leaves(value, (*at, key), who)


def _tool_calls(calls: Any, at: Where, seen: _Collector) -> None:
    if calls is None:
        return
    if not isinstance(calls, list):
        raise _wrong(dotted(at), "a list of tool calls")
    for index, call in enumerate(calls):
        if not isinstance(call, dict):
            raise _wrong(dotted((*at, index)), "an object")
        for key, value in call.items():
            seen.name(key, at, _CALL)
            read = seen.inert if key in _INERT_IN_CALL else seen.leaves
            read(value, (*at, index, key), _CALL)


def _tools(tools: Any, name: str, seen: _Collector) -> None:
    if tools is None:
        return
    if not isinstance(tools, list):
        raise _wrong(name, "a list of tool definitions")
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise _wrong(f"{name}[{index}]", "an object")
        seen.leaves(tool, (name, index), _TOOL)


def _reading(body: dict[str, Any], seen: _Collector, count: int) -> Reading:
    model = _typed(body, "model", str, "a string")
    if not model:
        raise BadRequest(
            "missing_model", "`model` is missing; name a model of GET /v1/models", param="model"
        )
    stream = _typed(body, "stream", bool, "true or false")
    options = _typed(body, "stream_options", dict, "an object")
    n = _count(body, "n")
    limit = _count(body, "max_completion_tokens", "max_tokens")
    wants_usage = bool(options and options.get("include_usage"))
    return Reading(
        model=model,
        stream=bool(stream),
        wants_usage=wants_usage,
        choices=n or 1,
        max_tokens=limit or -1,
        segments=seen.all_segments(),
        uninspected=seen.uninspected,
        count=count,
    )


def _count(body: dict[str, Any], *names: str) -> int:
    for name in names:
        value = body.get(name)
        if value is not None:
            if not _is_int(value) or value < 1:
                raise _wrong(name, "a whole number of at least 1")
            return int(value)
    return 0


def _typed(body: dict[str, Any], name: str, kind: type, what: str) -> Any:
    value = body.get(name)
    if value is not None and not isinstance(value, kind):
        raise _wrong(name, what)
    return value


def _object(body: Any) -> None:
    if not isinstance(body, dict):
        raise BadRequest("invalid_type", "the body must be a JSON object")


def _wrong(param: str, wanted: str) -> BadRequest:
    return BadRequest("invalid_type", f"`{param}` must be {wanted}", param=param)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _size(node: Any) -> int:
    """Bytes of the strings in a media part: walked, not serialised, since they are large."""
    total = 0
    todo: list[Any] = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, dict):
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
    return total
