"""One request of a client: its head whole, its body as it comes.

What fills it is its connection; what reads it is the Reply.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from ..coding import too_large
from ..errors import BadRequest


class Sender(Protocol):
    """Where an answer goes: the connection that the request came on."""

    @property
    def address(self) -> str:
        """The client's IP address."""

    def send(self, data: bytes) -> int:
        """Write; how many bytes now wait for the client.  Raises ConnectionError if it left."""

    async def drained(self) -> None:
        """Wait while the client does not read."""


class Request:
    """A request; `pull` is called when somebody begins to wait for its body."""

    __slots__ = (
        "_limit",
        "_more",
        "_pieces",
        "_pull",
        "_waiter",
        "complete",
        "fault",
        "headers",
        "keep_alive",
        "method",
        "sender",
        "size",
        "target",
        "version",
        "wanted",
    )

    def __init__(self, sender: Sender, pull: Callable[[], None], limit: int) -> None:
        self.sender = sender
        self.method = ""
        self.target = ""
        """As the client wrote it: untrusted."""
        self.version = ""
        self.headers: dict[bytes, bytes] = {}
        """By name in small letters; of several the first."""
        self.keep_alive = False
        """Whether the client lets the connection go on after this."""
        self.size = 0
        """Bytes of the body that have come."""
        self.complete = False
        self.fault: BadRequest | None = None
        """Why it is no HTTP."""
        self.wanted = False
        """Somebody waits for the body, or for its end."""
        self._more: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._pull = pull
        self._limit = limit
        self._waiter: asyncio.Future[None] | None = None

    @property
    def held(self) -> int:
        """Bytes of the body that nobody has asked for yet."""
        return 0 if self.wanted else self.size

    @property
    def path(self) -> str:
        """The target without its query, nothing decoded."""
        return self.target.partition("?")[0]

    def header(self, name: bytes) -> str | None:
        """The first value under a name in small letters."""
        value = self.headers.get(name)
        return None if value is None else _text(value)

    def values(self, name: bytes) -> list[str]:
        """All values under a name in small letters, in their order."""
        value = self.headers.get(name)
        if value is None:
            return []
        if not self._more:
            return [_text(value)]
        return [_text(value), *(_text(v) for n, v in self._more if n == name)]

    async def body(self) -> bytes:
        """The whole body.

        Raises:
            BadRequest: it is longer than allowed, or badly framed.

        """
        if not self.complete:
            await self._end()
        return self.whole()

    def whole(self) -> bytes:
        """The body as it has come.  Raises BadRequest as `body` does."""
        if self.size > self._limit:
            raise too_large(self._limit)
        if not self.complete:
            raise BadRequest("bad_body", "the body breaks off or is badly framed")
        pieces = self._pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        return data

    async def pass_over(self) -> None:
        """Let the rest of the body come, and keep nothing of it."""
        self._pieces.clear()
        self._limit = -1
        while not self.complete and self.fault is None:
            await self._end()

    async def _end(self) -> None:
        """Wait for the end of the body, a fault in it, or more than is taken."""
        if self.fault is not None or 0 <= self._limit < self.size:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        self.wanted = True
        self._pull()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def add(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        if name in self.headers:
            self._more.append((name, value))
        else:
            self.headers[name] = value

    def took(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self.size += len(piece)
        if self.size <= self._limit:
            self._pieces.append(piece)
        elif self._limit >= 0:  # else nobody wants it
            self._pieces.clear()
            self._wake()

    def end(self) -> None:
        """The body has come."""
        self.complete = True
        self._wake()

    def break_off(self, fault: BadRequest) -> None:
        """What came is no HTTP."""
        self.fault = fault
        self.keep_alive = False
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _text(value: bytes) -> str:
    return value.strip(b" \t").decode("utf-8", "surrogateescape")
