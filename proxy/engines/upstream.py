"""The only file that knows the engines' sockets.

Foreign errors become `EngineFailed` here and nowhere else.  Closing the connection is how an
engine is told to stop, so an answer that is not read to its end never goes back to the pool of
connections: leaving `ask` early closes its socket.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from io import BytesIO

import aiohttp

from ..errors import EngineFailed
from .engine import Engine

IDLE_SECONDS = 4.0
"""uvicorn, hence vLLM, and llama.cpp close idle connections after 5 s: we must be first."""

MOST_ANSWER = 64 << 20
"""Bytes of a complete answer that are read into memory."""

_LARGE = 1 << 20
"""Bytes from which a body is written in pieces, so that the loop is not held up."""

_READ = 64 << 10
"""Bytes read ahead from an engine: a slow client must not make us hold its answer."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an engine, in seconds."""

    connect: float
    first_byte: float
    """From the request being sent to the first byte of the body."""
    stall: float
    """Between two reads of the body."""


class EngineAnswer:
    """An answer whose head has come.

    One timer watches the whole answer: setting one for each read would cost more than the read.
    """

    def __init__(self, response: aiohttp.ClientResponse, patience: Patience) -> None:
        self._response = response
        self._patience = patience
        self._read = response.content.readany
        self._clock = asyncio.get_running_loop().time
        self._limit = patience.first_byte
        self._waiting = 0.0
        self._stalled = False
        self._timer = self._watch(self._limit)
        self.status = response.status
        self.content_type = response.content_type
        self.retry_after = response.headers.get("Retry-After", "")

    async def next(self) -> bytes:
        """The next piece of the body, b"" at its end.  Raises EngineFailed when it breaks off."""
        self._waiting = self._clock()
        try:
            with _translated():
                piece: bytes = await self._read()
        except EngineFailed:
            self._check()
            raise
        self._waiting = 0.0
        self._limit = self._patience.stall
        self._check()
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

    def close(self) -> None:
        """Let the connection go; it is used again only if the answer was read to its end."""
        self._timer.cancel()
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()

    def _check(self) -> None:
        if self._stalled:
            raise EngineFailed("stall", "the engine stopped answering", status=504)

    def _watch(self, delay: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay, self._look)

    def _look(self) -> None:
        since = self._clock() - self._waiting if self._waiting else 0.0
        if since >= self._limit:
            self._stalled = True
            self._response.close()  # wakes the reader with an error
        else:
            self._timer = self._watch(max(self._limit - since, 0.01))


class Upstream:
    """Speaks to engines over one session of pooled connections."""

    def __init__(self, session: aiohttp.ClientSession, patience: Patience) -> None:
        self._session = session
        self._patience = patience

    @asynccontextmanager
    async def ask(
        self, engine: Engine, path: str, body: bytes, headers: Sequence[tuple[str, str]]
    ) -> AsyncIterator[EngineAnswer]:
        """Send a request and give its answer once the head has come.

        Raises:
            EngineFailed: "connect", "reset", "timeout" or "stall", by what went wrong.

        """
        url = engine.url.with_path(engine.url.path.rstrip("/") + path)
        data = body if len(body) < _LARGE else BytesIO(body)
        with _translated():
            async with asyncio.timeout(self._patience.first_byte):
                response = await self._session.post(
                    url, data=data, headers=(*headers, *engine.headers), allow_redirects=False
                )
        answer = EngineAnswer(response, self._patience)
        try:
            yield answer
        finally:
            answer.close()


def session(patience: Patience) -> aiohttp.ClientSession:
    """A session that adds nothing of its own to a request; MUST be made inside the loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=patience.connect),
        skip_auto_headers=("User-Agent", "Accept-Encoding", "Accept"),
        read_bufsize=_READ,
        trust_env=False,
    )


@contextmanager
def _translated() -> Iterator[None]:
    """Give aiohttp's errors the names of ours."""
    try:
        yield
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise EngineFailed("connect", "the engine cannot be reached") from error
    except TimeoutError as error:
        raise EngineFailed("stall", "the engine stopped answering", status=504) from error
    except aiohttp.ServerDisconnectedError as error:
        raise EngineFailed("reset", "the engine closed the connection") from error
    except aiohttp.ClientPayloadError as error:
        raise EngineFailed("truncated", "the engine's answer broke off") from error
    except (aiohttp.ClientError, OSError) as error:
        raise EngineFailed("reset", "the connection to the engine broke") from error
