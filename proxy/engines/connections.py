"""Kept connections to engines, on aiohttp's own client protocol and parser.

`aiohttp.ClientSession` costs more for each request than all inspection (docs/decisions/0008):
cookies, redirects, URL and header objects that a proxy to a fixed engine has no use for.  This
uses the layer below it, `ResponseHandler` with aiohttp's C parser, and only what is listed in
`tests/proxy/engines/test_connections.py`; aiohttp is pinned to one minor version for it.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable

from aiohttp.client_proto import ResponseHandler
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

from .engine import Engine

IDLE_SECONDS = 4.0
"""uvicorn, hence vLLM, and llama.cpp close idle connections after 5 s: we must be first."""

_READ = 64 << 10
"""Bytes read ahead from an engine: a slow client must not make us hold its answer."""

_INFORMATIONAL = 200
"""Below it are interim answers (RFC 9110 §15.2), which a client may ignore."""


class EngineConnection(ResponseHandler):
    """aiohttp's client protocol, which tells `heard` of each read once the parser is through it.

    A callback, because waking a task for each token costs more than screening the token.
    """

    heard: Callable[[], None] | None = None

    def data_received(self, data: bytes) -> None:
        """Take bytes of the engine."""
        super().data_received(data)
        if self.heard is not None:
            self.heard()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Take the end of the connection."""
        super().connection_lost(exc)
        if self.heard is not None:
            self.heard()


class Connections:
    """Idle connections by engine, youngest used first."""

    def __init__(self, connect_timeout: float) -> None:
        self._timeout = connect_timeout
        self._idle: dict[str, deque[tuple[float, EngineConnection]]] = {}
        self._tls = ssl.create_default_context()

    async def take(self, engine: Engine) -> EngineConnection:
        """A connection to the engine, kept or new.

        Raises:
            OSError: it cannot be reached (TimeoutError: not in time).

        """
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        idle = self._idle.get(engine.name)
        while idle:
            since, connection = idle.pop()
            # should_close again: what came unasked would be taken for the next answer.
            if since >= oldest and connection.is_connected() and not connection.should_close:
                return connection
            connection.close()
        return await self._open(engine)

    async def _open(self, engine: Engine) -> EngineConnection:
        loop = asyncio.get_running_loop()
        tls = self._tls if engine.url.scheme == "https" else None
        async with asyncio.timeout(self._timeout):
            _, connection = await loop.create_connection(
                lambda: EngineConnection(loop), engine.host, engine.port, ssl=tls
            )
        return connection

    def give(self, engine: Engine, connection: EngineConnection) -> None:
        """Keep a connection whose answer was read to its end, or close it."""
        if connection.should_close or not connection.is_connected():
            connection.close()
            return
        idle = self._idle.setdefault(engine.name, deque())
        now = asyncio.get_running_loop().time()
        while idle and idle[0][0] < now - IDLE_SECONDS:
            idle.popleft()[1].close()
        idle.append((now, connection))

    def close(self) -> None:
        """Close all that are idle."""
        for idle in self._idle.values():
            while idle:
                idle.pop()[1].close()


async def answer_on(
    connection: ResponseHandler, request: bytes
) -> tuple[RawResponseMessage, StreamReader]:
    """Write a request, and the head of its answer with the reader of its body.

    Raises:
        aiohttp.ClientError, OSError: the connection broke.

    """
    connection.set_response_params(
        read_until_eof=True, auto_decompress=True, read_bufsize=_READ, max_headers=256
    )
    transport = connection.transport
    if transport is None:
        raise ConnectionResetError("the connection was closed while it was idle")
    transport.write(request)
    message, body = await connection.read()
    while message.code < _INFORMATIONAL:
        message, body = await connection.read()
    return message, body
