"""The OpenAI dialect, put together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from ...errors import BadRequest, ProxyError
from ..base import Answer, Channel, Endpoint, EventReading, Reading, Usage, Where
from . import answers, events, requests
from .repeat import RepeatReader

_MODELS = "/v1/models"
_ENDPOINTS = {
    endpoint.path: endpoint
    for endpoint in (
        Endpoint("chat", "POST", "/v1/chat/completions", "chat", requests.chat),
        Endpoint("completions", "POST", "/v1/completions", "text_completion", requests.completion),
        Endpoint("embeddings", "POST", "/v1/embeddings", "embeddings", requests.embedding),
        Endpoint("models", "GET", _MODELS, ""),
    )
}
_MODEL = Endpoint("model", "GET", f"{_MODELS}/{{id}}", "")


class OpenAI:
    """Chat completions, completions, embeddings and models; anything else is refused."""

    name = "openai"

    def endpoint(self, method: str, path: str) -> Endpoint:
        """The endpoint for a path, with or without its `/v1`.

        Raises:
            BadRequest: 404 for another path, 405 for another method.

        """
        if not path.startswith("/v1/"):
            path = "/v1" + path
        endpoint = _ENDPOINTS.get(path)
        if endpoint is None and path.startswith(f"{_MODELS}/") and len(path) > len(_MODELS) + 1:
            endpoint = _MODEL
        if endpoint is None:
            raise BadRequest(
                "unknown_url",
                "this path is not served here; served are " + ", ".join(sorted(_ENDPOINTS)),
                status=404,
            )
        if method != endpoint.method and (method, endpoint.method) != ("HEAD", "GET"):
            refused = BadRequest(
                "method_not_allowed", f"{endpoint.path} takes {endpoint.method} only", status=405
            )
            allowed = "GET, HEAD" if endpoint.method == "GET" else endpoint.method
            refused.headers = (("Allow", allowed),)  # RFC 9110 section 15.5.6 wants it
            raise refused
        return endpoint

    def for_engine(self, body: dict[str, Any], reading: Reading, model: str) -> bool:
        """Ask for usage in every stream, and name the model as the engine does."""
        changed = False
        if reading.stream and not reading.wants_usage:
            options = body.get("stream_options") or {}
            body["stream_options"] = {**options, "include_usage": True}
            changed = True
        if model != reading.model:
            body["model"] = model
            changed = True
        return changed

    def answer(self, body: bytes, endpoint: Endpoint) -> Answer:
        """Read a complete answer of an endpoint."""
        return answers.read(body, "data" if endpoint.name == "embeddings" else "choices")

    def edit_answer(self, body: bytes, texts: Mapping[Where, str], *, blocked: bool) -> bytes:
        """Replace texts of a complete answer."""
        return answers.edit(body, texts, blocked=blocked)

    def event_reader(self) -> EventReading:
        """Give a reader for the events of one stream."""
        return RepeatReader()

    def model_of(self, data: bytes) -> str:
        """The model an event names."""
        return events.model(data)

    def edit_event(self, data: bytes, texts: Mapping[Channel, str]) -> bytes:
        """Replace texts of one event."""
        return events.edit(data, texts)

    def without_usage(self, raw: bytes) -> bytes:
        """Drop `"usage":null`.

        Inside a JSON string its quotes would be escaped, so only a member can match.
        """
        return raw.replace(b',"usage":null', b"").replace(b', "usage": null', b"")

    def renamed(self, raw: bytes, names: tuple[str, str]) -> bytes:
        """Give the model the name the client used; see `without_usage` for why bytes will do."""
        engine, client = (orjson.dumps(name) for name in names)
        for colon in (b":", b": "):
            raw = raw.replace(b'"model"' + colon + engine, b'"model"' + colon + client)
        return raw

    def block_events(self, sample: bytes, choices: Iterable[int], usage: Usage | None) -> bytes:
        """End a stream that a policy stops."""
        return events.block(sample, choices, usage)

    def error_event(self, error: ProxyError) -> bytes:
        """Tell of a failure in mid-stream; the SDKs raise on it."""
        return events.frame(_error(error, {}))

    def error_body(self, error: ProxyError, details: Mapping[str, Any]) -> bytes:
        """An error reply."""
        return orjson.dumps(_error(error, details))

    def models(self, names: Sequence[str], created: int) -> bytes:
        """The list of models."""
        data = [_model(name, created) for name in names]
        return orjson.dumps({"object": "list", "data": data})

    def model(self, name: str, created: int) -> bytes:
        """One model of the list."""
        return orjson.dumps(_model(name, created))

    def error_message(self, body: bytes) -> str:
        """What an engine's error body says."""
        return answers.error_message(body)


def _model(name: str, created: int) -> dict[str, str | int]:
    return {"id": name, "object": "model", "created": created, "owned_by": "tidegate"}


def _error(error: ProxyError, details: Mapping[str, Any]) -> dict[str, Any]:
    standard = {
        "message": error.message,
        "type": error.kind,
        "param": error.param,
        "code": error.code,
    }
    return {"error": {**standard, **details}}
