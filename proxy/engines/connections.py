"""Connections to engines: the answers read by httptools, and what is kept for later.

`aiohttp.ClientSession` costs more for each request than all inspection, and its protocol, with a
reader in the middle, more for each token than screening it (docs/decisions/0011).  httptools is
llhttp, the parser of Node.js, at its strict settings: what smuggles or misframes is an error.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from .engine import Engine
from .watch import Watch

IDLE_SECONDS = 4.0
"""uvicorn, hence vLLM, and llama.cpp close idle connections after 5 s: we must be first."""

_MOST_AHEAD = 64 << 10
"""Bytes read ahead from an engine: a slow client must not make us hold its answer."""
_MOST_HEAD = 64 << 10
"""Bytes of a head, interim answers before it included, and of what surrounds a piece of a body."""

_FINAL = 200
"""Below it are interim answers (RFC 9110 §15.2), which a client may ignore."""
_UPGRADED = 101


class EngineConnection(asyncio.Protocol):
    """One connection, and the answer that is being given on it.

    `heard` is called after each read and at the end: a callback, because waking a task for each
    token costs more than screening the token.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.watch: Watch | None = None
        """Who looks that the engine does not keep us waiting."""
        self.heard: Callable[[], None] | None = None
        self.status = 0
        """Of the answer; 0 until its head has come."""
        self.headers: dict[bytes, bytes] = {}
        """By name in small letters; of several the last."""
        self.complete = False
        """The answer has come to its proper end."""
        self.broken = False
        """It will not: the connection is lost, or what came is no HTTP."""
        self._asked = False
        self._kept = False
        self._paused = False
        self._room = _MOST_HEAD
        self._pieces: list[bytes] = []
        self.on_body = self._pieces.append  # httptools calls it: no frame of ours for a token
        self._parser = HttpResponseParser(self)

    @property
    def should_close(self) -> bool:
        """Whether it can take no other request."""
        return not self._kept or not self.complete or not self.connected

    @property
    def connected(self) -> bool:
        """Whether both sides can still write."""
        return self.transport is not None and not self.transport.is_closing()

    @property
    def waiting(self) -> bool:
        """Whether there is something to take."""
        return bool(self._pieces)

    def ask(self, request: bytes) -> None:
        """Send a request.  Raises ConnectionError if the connection is gone."""
        transport = self.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the connection was closed while it was idle")
        self.status = 0
        self.complete = False
        self._asked = True
        self._room = _MOST_HEAD
        transport.write(request)

    async def head(self) -> None:
        """Wait for the head of the answer.  Raises ConnectionError if none will come."""
        if not self.status and not self.broken:
            come = asyncio.get_running_loop().create_future()

            def heard() -> None:
                if (self.status or self.broken) and not come.done():
                    come.set_result(None)

            self.heard = heard
            try:
                await come
            finally:
                self.heard = None
        if not self.status:
            raise ConnectionResetError("the connection broke before the head of an answer")

    def take(self) -> bytes:
        """What has come of the body since the last call."""
        pieces = self._pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if self._paused and self.transport is not None:
            self._paused = False
            self.transport.resume_reading()
        return data

    def close(self) -> None:
        """Close it: that is how an engine is told to stop."""
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        """Close it without a word."""
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def data_received(self, data: bytes) -> None:
        """Take bytes of the engine."""
        if self.broken:
            return
        held = len(self._pieces)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._break()
        if len(self._pieces) > held:
            self._room = _MOST_HEAD
        elif not self.complete:
            self._room -= len(data)
            if self._room < 0:
                self._break()
        heard = self.heard
        if heard is not None:
            heard()
        if self._pieces:
            self._hold_back()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Take the end of the connection, which may be that of the answer."""
        self.transport = None
        if self.watch is not None:
            self.watch.cancel()
        if self._asked and not self.complete:
            # Of a body without a length the closing is the end (RFC 9112 section 6.3).
            ends = exc is None and bool(self.status) and not self.broken and self._until_closed
            self.complete = ends
            self.broken = not ends
        if self.heard is not None:
            self.heard()

    def on_message_begin(self) -> None:
        """Refuse what nobody asked for; it would be taken for the next answer."""
        if not self._asked or self.complete:
            raise ConnectionError("an answer that nobody asked for")
        self.headers.clear()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those after the body say nothing that is used."""
        if not self.status:
            self.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """Note the status, unless it is an interim one."""
        status = self._parser.get_status_code()
        if status == _UPGRADED:
            raise ConnectionError("an upgrade that nobody asked for")
        if status >= _FINAL:
            self.status = status
            self._kept = self._parser.should_keep_alive()

    def on_message_complete(self) -> None:
        """Note the end of the answer."""
        self.complete = bool(self.status)

    @property
    def _until_closed(self) -> bool:
        return not self.headers.keys() & {b"content-length", b"transfer-encoding"}

    def _break(self) -> None:
        """Nothing that comes counts any more; an answer that was complete before stays so."""
        self._kept = False
        if not self.complete:
            self.broken = True
        if self.transport is not None:
            self.transport.close()

    def _hold_back(self) -> None:
        if not self._paused and sum(map(len, self._pieces)) > _MOST_AHEAD and self.transport:
            self._paused = True
            self.transport.pause_reading()


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
        idle = self._idle.get(engine.name)
        if idle:
            oldest = monotonic() - IDLE_SECONDS
            while idle:
                since, connection = idle.pop()
                # should_close again: the engine may have closed it, or said something unasked.
                if since >= oldest and not connection.should_close:
                    return connection
                connection.close()
        return await self._open(engine)

    async def _open(self, engine: Engine) -> EngineConnection:
        loop = asyncio.get_running_loop()
        tls = self._tls if engine.url.scheme == "https" else None
        async with asyncio.timeout(self._timeout):
            _, connection = await loop.create_connection(
                EngineConnection, engine.host, engine.port, ssl=tls
            )
        return connection

    def give(self, engine: Engine, connection: EngineConnection) -> None:
        """Keep a connection whose answer was read to its end, or close it."""
        if connection.should_close:
            connection.close()
            return
        idle = self._idle.setdefault(engine.name, deque())
        now = monotonic()
        while idle and idle[0][0] < now - IDLE_SECONDS:
            idle.popleft()[1].close()
        idle.append((now, connection))

    def close(self) -> None:
        """Close all that are idle."""
        for idle in self._idle.values():
            while idle:
                idle.pop()[1].close()
