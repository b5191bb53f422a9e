"""The OpenAI JSON that an embedded engine reads and writes.

Pure: from a body to an Ask, from an Ask and pieces to replies and stream events.
Source: OpenAI API reference, chat completions, completions, embeddings, models.
"""

import base64
import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import orjson

from .prose import Script, answer_to, pieces

CREATED = 1_700_000_000
"""A fixed time of creation: the same request gives the same bytes."""
DIMENSIONS = 8
"""The length of an embedding vector."""
MAX_CHOICES = 8
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Ask:
    """One generation request, with what it needs decided: texts, number of choices, limits."""

    id: str
    chat: bool
    model: str
    script: Script
    prompt_tokens: int
    choices: int
    stream: bool
    include_usage: bool
    finish: str
    engine: str

    @property
    def completion_tokens(self) -> int:
        """Pieces over all choices: this engine's tokens."""
        return len(self.script.pieces) * self.choices


def read_ask(body: dict[str, Any], *, chat: bool, id: str, engine: str) -> Ask:  # noqa: A002 -- the field's name on the wire
    """Read a generation request.

    Raises ValueError with a sentence for the caller if a field has the wrong type or range.
    """
    texts = _chat_texts(body) if chat else _prompt_texts(body)
    script = answer_to(texts[-1])
    limit = _integer(body, "max_completion_tokens", _integer(body, "max_tokens", 1 << 20))
    finish = "stop" if limit >= len(script.pieces) else "length"
    choices = _integer(body, "n", 1)
    if choices > MAX_CHOICES:
        raise ValueError(f"n must be at most {MAX_CHOICES}")
    options = body.get("stream_options") or {}
    return Ask(
        id=id,
        chat=chat,
        model=str(body.get("model")),
        script=Script(script.pieces[:limit], script.think_ms, script.pace_ms),
        prompt_tokens=sum(len(pieces(text)) for text in texts),
        choices=choices,
        stream=body.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        finish=finish,
        engine=engine,
    )


def reply(ask: Ask) -> dict[str, Any]:
    """Give the whole answer as one JSON object."""
    choices: list[dict[str, Any]] = []
    for index in range(ask.choices):
        choice: dict[str, Any] = {"index": index, "logprobs": None, "finish_reason": ask.finish}
        if ask.chat:
            choice["message"] = {"role": "assistant", "content": ask.script.text, "refusal": None}
        else:
            choice["text"] = ask.script.text
        choices.append(choice)
    kind = "chat.completion" if ask.chat else "text_completion"
    return {**_head(ask, kind), "choices": choices, "usage": usage(ask)}


def opening(ask: Ask) -> list[bytes]:
    """Open a stream before its first text: one role-only delta a choice, none for completions."""
    if not ask.chat:
        return []
    delta = {"role": "assistant", "content": ""}
    return [_event(ask, _choice(index, delta, None)) for index in range(ask.choices)]


def token(ask: Ask, piece: str) -> list[bytes]:
    """Make the events that carry one piece, one a choice."""
    return [_event(ask, _text_choice(ask, index, piece, None)) for index in range(ask.choices)]


def closing(ask: Ask) -> list[bytes]:
    """End a stream: finish reasons, the usage if it was asked for, and [DONE]."""
    if ask.chat:
        ends = [_event(ask, _choice(index, {}, ask.finish)) for index in range(ask.choices)]
    else:
        ends = [_event(ask, _text_choice(ask, i, "", ask.finish)) for i in range(ask.choices)]
    if ask.include_usage:
        head = _head(ask, _chunk_kind(ask))
        ends.append(frame({**head, "choices": [], "usage": usage(ask)}))
    return [*ends, DONE]


def usage(ask: Ask) -> dict[str, int]:
    """Token counts in OpenAI's names."""
    return {
        "prompt_tokens": ask.prompt_tokens,
        "completion_tokens": ask.completion_tokens,
        "total_tokens": ask.prompt_tokens + ask.completion_tokens,
    }


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Vectors that follow from the text alone; base64 little-endian float32 where asked for.

    Raises ValueError if `input` is neither a text nor a list of texts.
    """
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise ValueError("input must be a string or a non-empty list of strings")
    vectors = [_vector(text) for text in texts]
    packed = body.get("encoding_format") == "base64"
    tokens = sum(len(pieces(text)) for text in texts)
    return {
        "object": "list",
        "model": body.get("model"),
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": _packed(vector) if packed else vector,
            }
            for index, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def models(model: str) -> dict[str, Any]:
    """List the one model."""
    entry = {"id": model, "object": "model", "created": CREATED, "owned_by": "tidegate-demo"}
    return {"object": "list", "data": [entry]}


def error(message: str, code: str | None = None) -> dict[str, Any]:
    """Say an error in OpenAI's shape."""
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": None,
            "code": code,
        }
    }


def frame(value: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + orjson.dumps(value) + b"\n\n"


def _chat_texts(body: dict[str, Any]) -> list[str]:
    """Every message's text, the last of the user moved to the end: it is what gets answered."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages must be a non-empty list")
    if not all(isinstance(message, dict) for message in messages):
        raise ValueError("each message must be an object")
    asked = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    texts = [_content(message.get("content")) for message in messages]
    question = texts.pop(asked[-1]) if asked else ""
    return [*texts, question]


def _content(content: Any) -> str:
    """Read the text of a message's content: a string, or the text parts of a list."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return " ".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _prompt_texts(body: dict[str, Any]) -> list[str]:
    prompt = body.get("prompt")
    texts = [prompt] if isinstance(prompt, str) else prompt
    if not isinstance(texts, list) or len(texts) != 1 or not isinstance(texts[0], str):
        raise ValueError("prompt must be a string or a list of one string")
    return texts


def _integer(body: dict[str, Any], key: str, default: int) -> int:
    value = body.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{key} must be a positive integer")
    return value


def _head(ask: Ask, kind: str) -> dict[str, Any]:
    return {
        "id": ask.id,
        "object": kind,
        "created": CREATED,
        "model": ask.model,
        "system_fingerprint": ask.engine,
    }


def _chunk_kind(ask: Ask) -> str:
    return "chat.completion.chunk" if ask.chat else "text_completion"


def _event(ask: Ask, choice: dict[str, Any]) -> bytes:
    chunk = {**_head(ask, _chunk_kind(ask)), "choices": [choice]}
    if ask.include_usage:
        chunk["usage"] = None
    return frame(chunk)


def _choice(index: int, delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}


def _text_choice(ask: Ask, index: int, piece: str, finish: str | None) -> dict[str, Any]:
    if ask.chat:
        return _choice(index, {"content": piece}, finish)
    return {"index": index, "text": piece, "logprobs": None, "finish_reason": finish}


def _vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode(errors="replace")).digest()
    return [byte / 128 - 1 for byte in digest[:DIMENSIONS]]


def _packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
