"""Asks engines and gives their answers piece by piece; the only user of `connections.py`.

Foreign errors become `EngineFailed` here and nowhere else.  Closing the connection is how an
engine is told to stop, so an answer that is not read to its end never goes back to the kept
connections: leaving `ask` early closes its socket.
"""

import asyncio
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..coding import CODINGS
from ..errors import EngineFailed
from .connections import Connections, EngineConnection
from .engine import Engine
from .watch import Watch

MOST_ANSWER = 64 << 20
"""Bytes of a complete answer that are read into memory."""

_ANY_HEADER = 47
"""zlib's window size that takes gzip and zlib alike."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an engine, in seconds."""

    connect: float
    first_byte: float
    """From the request being sent to the first byte of the body."""
    stall: float
    """Between two reads of the body."""


class EngineAnswer:
    """An answer whose head has come."""

    def __init__(self, connection: EngineConnection, watch: Watch, stall: float) -> None:
        headers = connection.headers
        self._connection = connection
        self._watch = watch
        self._stall = stall
        self._inflate = _inflate(headers.get(b"content-encoding", b"").decode("latin-1"))
        self.status = connection.status
        kind = headers.get(b"content-type", b"").decode("latin-1")
        self.content_type = kind.partition(";")[0].strip().lower()
        self.retry_after = headers.get(b"retry-after", b"").decode("latin-1")

    def stop_watching(self) -> None:
        """The answer is over, one way or the other."""
        self._watch.rest()

    @property
    def complete(self) -> bool:
        """Whether the body was read to its end."""
        return self._connection.complete and not self._connection.waiting

    async def pump(self, take: Callable[[bytes], bool]) -> None:
        """Hand each piece to `take` as it comes, until it says no or the body is at its end.

        `take` runs where the bytes arrive, not in this task, and MUST NOT block.

        Raises:
            EngineFailed: the body breaks off.

        """
        self._watch.waiting()
        if not self._hand_over(take):  # what came with the head
            return
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def heard() -> None:
            if over.done():
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

        self._connection.heard = heard
        try:
            await over
        finally:
            self._connection.heard = None

    def _hand_over(self, take: Callable[[bytes], bool]) -> bool:
        """Give what has come to `take`; whether there may be more to give."""
        connection, watch = self._connection, self._watch
        if watch.fired:  # an answer without a length ends as well as breaks by a closed socket
            raise _stalled()
        if connection.waiting:
            piece = connection.take()
            if self._inflate is not None:
                piece = _inflated(self._inflate, piece)
            if piece and not take(piece):
                watch.heard(self._stall)
                return False
            watch.went_on(self._stall)
        if connection.broken:
            raise EngineFailed("truncated", "the engine's answer broke off")
        if connection.complete and self._inflate is not None and not self._inflate.eof:
            raise EngineFailed("truncated", "the engine's compressed answer broke off")
        return not connection.complete

    async def read(self) -> bytes:
        """The whole body.  Raises EngineFailed if it breaks off or is too large."""
        connection = self._connection
        if connection.complete and self._inflate is None:  # it came with its head, as most do
            body = connection.take()
            if len(body) > MOST_ANSWER:
                raise _too_long()
            return body
        pieces: list[bytes] = []
        room = MOST_ANSWER

        def take(piece: bytes) -> bool:
            nonlocal room
            room -= len(piece)
            pieces.append(piece)
            return room >= 0

        await self.pump(take)
        if room < 0:
            raise _too_long()
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
        patience = self._patience
        watch = connection.watch
        if watch is None:
            watch = Watch(connection.abort, min(patience.first_byte, patience.stall))
            connection.watch = watch
        watch.begin(patience.first_byte)
        try:
            connection.ask(self._request)
            await connection.head()
            self._answer = EngineAnswer(connection, watch, patience.stall)
        except ConnectionError as error:
            connection.close()
            if watch.fired:
                raise _stalled() from error
            raise EngineFailed("reset", "the connection to the engine broke") from error
        except BaseException:  # the client left, or the answer cannot be read
            connection.close()
            raise
        self._connection = connection
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


def _inflate(coding: str) -> "zlib._Decompress | None":
    """What undoes a coding that the engine was asked not to use; None for none.

    Raises:
        EngineFailed: it is not known.

    """
    if not coding or coding.lower() == "identity":
        return None
    if coding.lower() not in CODINGS:
        raise _bad_coding()
    return zlib.decompressobj(_ANY_HEADER)


def _inflated(inflate: "zlib._Decompress", piece: bytes) -> bytes:
    try:
        plain = inflate.decompress(piece, MOST_ANSWER)
    except zlib.error as error:
        raise _bad_coding() from error
    if inflate.unconsumed_tail:
        raise _too_long()
    if inflate.unused_data:  # it would be lost without a word
        raise _bad_coding()
    return plain


def _stalled() -> EngineFailed:
    return EngineFailed("stall", "the engine stopped answering", status=504)


def _bad_coding() -> EngineFailed:
    return EngineFailed("bad_answer", "the engine's answer is compressed in a way not understood")


def _too_long() -> EngineFailed:
    return EngineFailed("bad_answer", f"the answer is longer than {MOST_ANSWER} bytes")
