"""Asks engines and gives their answers piece by piece; the only user of `connections.py`.

Foreign errors become `EngineFailed` here and nowhere else.  Closing the connection is how an
engine is told to stop, so an answer that is not read to its end never goes back to the kept
connections: leaving `ask` early closes its socket.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

from ..errors import EngineFailed
from .connections import Connections, EngineConnection, answer_on
from .engine import Engine

MOST_ANSWER = 64 << 20
"""Bytes of a complete answer that are read into memory."""


_FOREIGN = (aiohttp.ClientError, aiohttp.http.HttpProcessingError, OSError)


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

    def __init__(self, connection: EngineConnection, limit: float) -> None:
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
        self,
        connection: EngineConnection,
        head: tuple[RawResponseMessage, StreamReader],
        watch: Watch,
        stall: float,
    ) -> None:
        message, self._body = head
        headers = message.headers
        self._connection = connection
        self._reading = False
        self._watch = watch
        self._stall = stall
        self.status = message.code
        self.content_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        self.retry_after = headers.get("Retry-After", "")

    def stop_watching(self) -> None:
        """The answer is over, one way or the other."""
        self._watch.cancel()

    @property
    def complete(self) -> bool:
        """Whether the body was read to its end."""
        return self._body.at_eof()

    async def next(self) -> bytes:
        """The next piece of the body, b"" at its end.  Raises EngineFailed when it breaks off."""
        watch = self._watch
        watch.waiting()
        try:
            piece = await self._body.readany()
        except _FOREIGN as error:
            raise _named(error, watch) from error
        if watch.fired:  # an answer without a length ends as well as breaks by a closed socket
            raise _stalled()
        watch.heard(self._stall)
        return piece

    async def pump(self, take: Callable[[bytes], bool]) -> None:
        """Hand each piece to `take` as it comes, until it says no or the body is at its end.

        `take` runs where the bytes arrive, not in this task, and MUST NOT block.

        Raises:
            EngineFailed: the body breaks off.

        """
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def heard() -> None:
            if over.done() or self._reading:  # reading may make the parser go on and tell us again
                return
            error: BaseException | None = None
            try:
                if self._hand_over(take):
                    return
            except BaseException as caught:  # noqa: BLE001 - raised again where it is awaited
                error = caught
            if over.done():  # writing showed that the client left, which cancelled the wait
                return
            if error is None:
                over.set_result(None)
            else:
                over.set_exception(error)

        heard()  # what came with the head
        self._connection.heard = heard
        try:
            await over
        finally:
            self._connection.heard = None

    def _hand_over(self, take: Callable[[bytes], bool]) -> bool:
        """Give what has come to `take`; whether there may be more to give."""
        body, watch = self._body, self._watch
        while piece := self._read_nowait():
            watch.heard(self._stall)
            if not take(piece):
                return False
        if body.at_eof():
            return False
        if self._connection.transport is None:  # lost, and not as an end or a break of the body
            raise EngineFailed("reset", "the connection to the engine broke")
        watch.waiting()
        return True

    def _read_nowait(self) -> bytes:
        self._reading = True
        try:
            piece = self._body.read_nowait(-1)
        except _FOREIGN as error:
            raise _named(error, self._watch) from error
        finally:
            self._reading = False
        if self._watch.fired:
            raise _stalled()
        return piece

    async def read(self) -> bytes:
        """The whole body.  Raises EngineFailed if it breaks off or is too large."""
        # Most answers came with their head, and need not be waited for.
        pieces = [self._read_nowait()] if self._body.is_eof() else []
        size = sum(map(len, pieces))
        while not self._body.at_eof() and (piece := await self.next()):
            size += len(piece)
            pieces.append(piece)
            if size > MOST_ANSWER:
                break
        if size > MOST_ANSWER:
            raise EngineFailed("bad_answer", f"the answer is longer than {MOST_ANSWER} bytes")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Asking:
    """A request to one engine: entered when the head of its answer has come."""

    __slots__ = ("_answer", "_connection", "_connections", "_engine", "_patience", "_request")

    def __init__(
        self, connections: Connections, patience: Patience, engine: Engine, request: bytes
    ) -> None:
        self._connections = connections
        self._patience = patience
        self._engine = engine
        self._request = request

    async def __aenter__(self) -> EngineAnswer:
        """Send the request and wait for the head.

        Raises:
            EngineFailed: "connect", "reset" or "stall", by what went wrong.

        """
        try:
            connection = await self._connections.take(self._engine)
        except OSError as error:
            raise EngineFailed("connect", "the engine cannot be reached") from error
        watch = Watch(connection, self._patience.first_byte)
        try:
            head = await answer_on(connection, self._request)
        except _FOREIGN as error:
            _give_up(watch, connection)
            raise _named(error, watch) from error
        except BaseException:  # the client left
            _give_up(watch, connection)
            raise
        self._connection = connection
        self._answer = EngineAnswer(connection, head, watch, self._patience.stall)
        return self._answer

    async def __aexit__(self, *_: object) -> None:
        """Keep the connection if the answer was read to its end, close it otherwise."""
        self._answer.stop_watching()
        if self._answer.complete:
            self._connections.give(self._engine, self._connection)
        else:
            self._connection.close()


class Upstream:
    """Speaks to engines over kept connections."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._connections = Connections(patience.connect)

    def ask(
        self, engine: Engine, path: str, body: bytes, headers: Sequence[tuple[str, str]]
    ) -> Asking:
        """A request, sent when it is entered; leaving it early tells the engine to stop."""
        request = _request(engine, path, body, headers)
        return Asking(self._connections, self._patience, engine, request)

    def close(self) -> None:
        """Close the kept connections."""
        self._connections.close()


def _request(engine: Engine, path: str, body: bytes, headers: Sequence[tuple[str, str]]) -> bytes:
    """The request on the wire; names and values are ours, or checked with the configuration."""
    lines = [f"POST {engine.base}{path} HTTP/1.1", f"Host: {engine.authority}"]
    lines += [f"{name}: {value}" for name, value in (*headers, *engine.headers)]
    lines.append(f"Content-Length: {len(body)}\r\n\r\n")
    return "\r\n".join(lines).encode("latin-1") + body


def _named(error: Exception, watch: Watch) -> EngineFailed:
    """Give an error of aiohttp or the system the name of ours."""
    if watch.fired:
        return _stalled()
    if isinstance(error, aiohttp.ClientPayloadError):
        return EngineFailed("truncated", "the engine's answer broke off")
    return EngineFailed("reset", "the connection to the engine broke")


def _give_up(watch: Watch, connection: EngineConnection) -> None:
    watch.cancel()
    connection.close()


def _stalled() -> EngineFailed:
    return EngineFailed("stall", "the engine stopped answering", status=504)
