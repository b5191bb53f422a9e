"""The tour's own client: plain HTTP to the proxy, with a note of when each piece of text came."""

import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from .engine import MODEL

Message = dict[str, Any]
"""One entry of `messages`."""

CHAT = "/v1/chat/completions"
DATA = b"data: "
DONE = b"[DONE]"


@dataclass(slots=True)
class Told:
    """What the client was told about one request, and when (monotonic nanoseconds)."""

    trace_id: str
    """32 hex digits: the client's own, sent as `traceparent`."""
    sent_ns: int
    status: int = 0
    request_id: str = ""
    text: str = ""
    finish: str = ""
    code: str = ""
    """The error's code, "" if there was no error."""
    message: str = ""
    answered_by: str = ""
    """The engine, by its system_fingerprint."""
    done: bool = False
    """A stream ended with [DONE]."""
    text_ns: list[int] = field(default_factory=list)
    """When each event with text came."""
    left_ns: int = 0
    """When the client closed the connection before the end, 0 if it stayed."""

    @property
    def first_text_ms(self) -> float:
        """From sending to the first text; 0.0 if there was none."""
        return (self.text_ns[0] - self.sent_ns) / 1e6 if self.text_ns else 0.0

    @property
    def gaps_ms(self) -> list[float]:
        """Between consecutive events with text."""
        return [
            (later - earlier) / 1e6
            for earlier, later in zip(self.text_ns, self.text_ns[1:], strict=False)
        ]

    def read(self, answer: Any) -> None:
        """Take in a reply or a stream event.  Raises ValueError if it is in another shape."""
        value = _object(answer)
        if "error" in value:
            error = _object(value["error"])
            self.code, self.message = str(error.get("code")), str(error.get("message"))
        self.answered_by = str(value.get("system_fingerprint") or self.answered_by)
        for choice in map(_object, value.get("choices") or ()):
            said = _object(choice.get("message") or choice.get("delta") or {})
            self.finish = str(choice.get("finish_reason") or self.finish)
            if said.get("content"):
                self.text += str(said["content"])
                self.text_ns.append(time.monotonic_ns())


class Client:
    """Asks the proxy.

    Each method may raise aiohttp.ClientError, OSError, TimeoutError, or ValueError for an answer
    that is not in the OpenAI shape.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url.rstrip("/")
        self.asked: list[Told] = []
        """Everything asked so far, in order."""

    async def chat(self, messages: list[Message]) -> Told:
        """Ask for an answer in one piece."""
        told = self._note()
        async with self._post(told, {"messages": messages}) as response:
            _read_head(told, response)
            told.read(orjson.loads(await response.read()))
        return told

    async def stream(self, messages: list[Message]) -> Told:
        """Ask for a stream and read it to its end."""
        told = self._note()
        async with self._post(told, {"messages": messages, "stream": True}) as response:
            _read_head(told, response)
            if response.content_type == "application/json":
                told.read(orjson.loads(await response.read()))
            async for event in _events(response):
                _read_event(told, event)
        return told

    async def leave(self, messages: list[Message], *, after: int) -> Told:
        """Ask for a stream and close the connection after so many events with text."""
        told = self._note()
        async with self._post(told, {"messages": messages, "stream": True}) as response:
            _read_head(told, response)
            async for event in _events(response):
                _read_event(told, event)
                if len(told.text_ns) >= after:
                    told.left_ns = time.monotonic_ns()
                    response.close()
                    break
        return told

    def _note(self) -> Told:
        told = Told(trace_id=secrets.token_hex(16), sent_ns=time.monotonic_ns())
        self.asked.append(told)
        return told

    def _post(self, told: Told, body: dict[str, Any]) -> Any:
        headers = {"traceparent": f"00-{told.trace_id}-{secrets.token_hex(8)}-01"}
        return self._session.post(
            f"{self._url}{CHAT}", json={"model": MODEL, **body}, headers=headers
        )


def _read_head(told: Told, response: aiohttp.ClientResponse) -> None:
    told.status = response.status
    told.request_id = response.headers.get("x-request-id", "")


def _read_event(told: Told, event: bytes) -> None:
    if event == DONE:
        told.done = True
    else:
        told.read(orjson.loads(event))


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Each event's data; the proxy and the engines put one event on one data line."""
    async for line in response.content:
        if line.startswith(DATA):
            yield line.removeprefix(DATA).strip()


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError("the answer is not in the OpenAI shape")
