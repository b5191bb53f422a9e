"""Asks engines and gives their answers piece by piece; the only user of `connections.py`.

Foreign errors become `EngineFailed` here and nowhere else.  Closing the connection is how an
engine is told to stop, so an answer that is not read to its end never goes back to the kept
connections: leaving `ask` early closes its socket.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

from ..errors import EngineFailed
from .connections import Connections, answer_on
from .engine import Engine

MOST_ANSWER = 64 << 20
"""Bytes of a complete answer that are read into memory."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an engine, in seconds."""

    connect: float
    first_byte: float
    """From the request being sent to the first byte of the body."""
    stall: float
    """Between two reads of the body."""


class Watch:
    """Breaks a connection that keeps us waiting.

    One timer for a whole answer, looked at when it fires: setting one for each read would cost
    more than the read.
    """

    def __init__(self, connection: ResponseHandler, limit: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._connection = connection
        self._limit = limit
        self._since = self._loop.time()
        self._timer = self._loop.call_later(limit, self._look)
        self.fired = False

    def waiting(self) -> None:
        """The engine has the word."""
        self._since = self._loop.time()

    def heard(self, limit: float) -> None:
        """The engine said something; from now on it may be silent this long."""
        self._since = 0.0
        self._limit = limit

    def cancel(self) -> None:
        """Stop watching."""
        self._timer.cancel()

    def _look(self) -> None:
        waited = self._loop.time() - self._since if self._since else 0.0
        if waited < self._limit:
            self._timer = self._loop.call_later(self._limit - waited, self._look)
            return
        self.fired = True
        transport = self._connection.transport
        if transport is not None:
            transport.abort()  # wakes the reader, with an error


class EngineAnswer:
    """An answer whose head has come."""

    def __init__(
        self, message: RawResponseMessage, body: StreamReader, watch: Watch, stall: float
    ) -> None:
        headers = message.headers
        self._body = body
        self._read = body.readany
        self._watch = watch
        self._stall = stall
        self.status = message.code
        self.content_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        self.retry_after = headers.get("Retry-After", "")

    @property
    def complete(self) -> bool:
        """Whether the body was read to its end."""
        return self._body.is_eof()

    async def next(self) -> bytes:
        """The next piece of the body, b"" at its end.  Raises EngineFailed when it breaks off."""
        self._watch.waiting()
        with _translated(self._watch):
            piece = await self._read()
        self._watch.heard(self._stall)
        return piece

    async def read(self) -> bytes:
        """The whole body.  Raises EngineFailed if it breaks off or is too large."""
        pieces, size = [], 0
        while piece := await self.next():
            size += len(piece)
            if size > MOST_ANSWER:
                raise EngineFailed("bad_answer", f"the answer is longer than {MOST_ANSWER} bytes")
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Upstream:
    """Speaks to engines over kept connections."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._connections = Connections(patience.connect)

    @asynccontextmanager
    async def ask(
        self, engine: Engine, path: str, body: bytes, headers: Sequence[tuple[str, str]]
    ) -> AsyncIterator[EngineAnswer]:
        """Send a request and give its answer once the head has come.

        Raises:
            EngineFailed: "connect", "reset" or "stall", by what went wrong.

        """
        try:
            connection = await self._connections.take(engine)
        except OSError as error:
            raise EngineFailed("connect", "the engine cannot be reached") from error
        watch = Watch(connection, self._patience.first_byte)
        try:
            with _translated(watch):
                message, reader = await answer_on(
                    connection, _request(engine, path, body, headers)
                )
            answer = EngineAnswer(message, reader, watch, self._patience.stall)
            yield answer
        except BaseException:
            connection.close()
            raise
        finally:
            watch.cancel()
        if answer.complete:
            self._connections.give(engine, connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close the kept connections."""
        self._connections.close()


def _request(engine: Engine, path: str, body: bytes, headers: Sequence[tuple[str, str]]) -> bytes:
    """The request on the wire; names and values are ours, or checked with the configuration."""
    lines = [f"POST {engine.base}{path} HTTP/1.1", f"Host: {engine.authority}"]
    lines += [f"{name}: {value}" for name, value in (*headers, *engine.headers)]
    lines.append(f"Content-Length: {len(body)}\r\n\r\n")
    return "\r\n".join(lines).encode("latin-1") + body


@contextmanager
def _translated(watch: Watch) -> Iterator[None]:
    """Give aiohttp's errors the names of ours."""
    try:
        yield
    except (aiohttp.ClientError, aiohttp.http.HttpProcessingError, OSError) as error:
        if watch.fired:
            raise EngineFailed("stall", "the engine stopped answering", status=504) from error
        if isinstance(error, aiohttp.ClientPayloadError):
            raise EngineFailed("truncated", "the engine's answer broke off") from error
        raise EngineFailed("reset", "the connection to the engine broke") from error
    if watch.fired:  # an answer without a length ends as well as breaks by a closed connection
        raise EngineFailed("stall", "the engine stopped answering", status=504)
