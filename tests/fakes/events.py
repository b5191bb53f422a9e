"""Bodies and server-sent events as OpenAI-compatible engines send them.

The shapes follow what vLLM 0.32, llama.cpp (b0) and Hugging Face `transformers serve` 5.24 were
seen to send; the values are made up.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

DONE = b"data: [DONE]\n\n"
CREATED = 1_760_000_000
MODEL = "fake"
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


def frame(event: Any, *, prefix: str = "data: ", newline: str = "\n") -> bytes:
    """One server-sent event.  The blank after `data:` and the kind of line end may be chosen."""
    text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    return f"{prefix}{text}{newline}{newline}".encode()


def comment(text: str = "ping") -> bytes:
    """A comment line, which some engines send to keep the connection open."""
    return f": {text}\n\n".encode()


def chunk_event(
    delta: dict[str, Any], *, index: int = 0, finish: str | None = None, **more: Any
) -> dict[str, Any]:
    """One chat.completion.chunk with one choice."""
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": MODEL,
        "choices": [choice],
    } | more


def role(index: int = 0, content: str | None = "") -> dict[str, Any]:
    """The first delta of vLLM (content "") and llama.cpp (null): a role, not yet a token."""
    return chunk_event({"role": "assistant", "content": content}, index=index)


def says(text: str, *, index: int = 0) -> dict[str, Any]:
    """A delta that carries text."""
    return chunk_event({"content": text}, index=index)


def thinks(text: str, *, key: str = "reasoning_content") -> dict[str, Any]:
    """A delta of reasoning: `reasoning_content` at most engines, `reasoning` at newer vLLM."""
    return chunk_event({key: text})


def calls(index: int, *, name: str = "", arguments: str | None = None) -> dict[str, Any]:
    """A delta of a tool call: the name comes first with an id, the arguments in pieces."""
    function: dict[str, str] = {}
    call: dict[str, Any] = {"index": index, "function": function}
    if name:
        function["name"] = name
        call |= {"id": f"call_{index}", "type": "function"}
    if arguments is not None:
        function["arguments"] = arguments
    return chunk_event({"content": None, "tool_calls": [call]})


def finish(reason: str = "stop", *, index: int = 0, **more: Any) -> dict[str, Any]:
    """The last delta of a choice."""
    return chunk_event({}, index=index, finish=reason, **more)


def usage() -> dict[str, Any]:
    """The extra chunk that `stream_options.include_usage` asks for: no choices."""
    return chunk_event({}) | {"choices": [], "usage": USAGE}


def engine_error(message: str = "EngineCore encountered an issue.") -> dict[str, Any]:
    """An error inside a 200 stream, as vLLM sends it when its engine process dies."""
    return {
        "error": {"message": message, "type": "InternalServerError", "param": None, "code": 500}
    }


def talk(words: Iterable[str]) -> list[bytes]:
    """A whole plain stream as vLLM sends it, one frame an item, with usage and [DONE]."""
    middle = [frame(says(word)) for word in words]
    return [frame(role()), *middle, frame(finish()), frame(usage()), DONE]


def chat_body(content: str | None = "Hello there.", **message: Any) -> dict[str, Any]:
    """A chat completion that is not streamed."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content} | message,
        "logprobs": None,
        "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
    }
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": CREATED,
        "model": MODEL,
        "choices": [choice],
        "usage": USAGE,
    }


def completion_body(text: str = "Hello there.") -> dict[str, Any]:
    """A legacy text completion."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": "stop"}
    return chat_body() | {"object": "text_completion", "choices": [choice]}


def completion_event(text: str, *, finish_reason: str | None = None) -> dict[str, Any]:
    """One event of a streamed text completion."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish_reason}
    return chunk_event({}) | {"object": "text_completion", "choices": [choice]}


def embeddings_body(vectors: Sequence[Sequence[float]] = ((0.1, 0.2),)) -> dict[str, Any]:
    """An embeddings answer with one vector an input."""
    data = [
        {"object": "embedding", "index": index, "embedding": list(vector)}
        for index, vector in enumerate(vectors)
    ]
    tokens = {"prompt_tokens": 9, "total_tokens": 9}
    return {"object": "list", "data": data, "model": MODEL, "usage": tokens}


def models_body(*names: str) -> dict[str, Any]:
    """The list that GET /v1/models answers."""
    cards = [
        {"id": name, "object": "model", "created": CREATED, "owned_by": "tests"} for name in names
    ]
    return {"object": "list", "data": cards}
