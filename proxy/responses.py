"""The two answers that carry an engine's words, written straight to the client's socket.

aiohttp's `Response` and `StreamResponse` build, copy and complete maps of headers for each answer
and pass each piece of a stream through four layers; that took a tenth of a request's time and a
fifth of a token's (docs/decisions/0008).  Answers of ours always have the same few headers.
Errors, which are rare, are ordinary aiohttp responses.
"""

import asyncio

from aiohttp import HttpVersion11, web
from aiohttp.helpers import rfc822_formatted_time

SOFTWARE = "tidegate"
"""What the Server header says: neither our version nor aiohttp's."""

EVENTS = "text/event-stream"

_BEHIND = 16 << 10
"""Bytes the client has not yet taken from which it is worth asking whether to wait."""


class Whole(web.StreamResponse):
    """A 200 with a body that is known to its last byte."""

    def __init__(self, body: bytes, content_type: str, request_id: str) -> None:
        super().__init__()
        self._content = body
        self._type = content_type
        self._id = request_id
        self._kept = False
        self._request: web.BaseRequest | None = None

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection goes on."""
        return self._kept

    async def prepare(self, request: web.BaseRequest) -> None:
        """Write head and body.  Raises ConnectionError if the client left."""
        self._kept = request.keep_alive
        head = _head(request, self._type, self._id, kept=self._kept)
        head += f"Content-Length: {len(self._content)}\r\n\r\n".encode()
        _send(request, head if request.method == "HEAD" else head + self._content)
        self._request = request

    async def write_eof(self, data: bytes = b"") -> None:  # noqa: ARG002 - as aiohttp has it
        """Wait for a client that has not taken it: it may have sent more requests already."""
        if self._request is not None:
            await self._request.writer.drain()


class Chunked(web.StreamResponse):
    """A 200 with a body that comes in pieces; to HTTP/1.0 its end is that of the connection."""

    def __init__(self, content_type: str, request_id: str) -> None:
        super().__init__()
        self._type = content_type
        self._id = request_id
        self._request: web.BaseRequest | None = None
        self._transport: asyncio.Transport | None = None
        self._chunked = True
        self._ended = False

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection goes on."""
        return self._chunked and self._request is not None and self._request.keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """Write the head, once; aiohttp asks again when all is over."""
        if self._request is not None:
            return
        self._request = request
        self._transport = request.transport
        self._chunked = request.version >= HttpVersion11
        head = _head(request, self._type, self._id, kept=bool(self.keep_alive))
        if self._chunked:
            head += b"Transfer-Encoding: chunked\r\n"
        # X-Accel-Buffering asks an nginx in front not to hold tokens back.
        _send(request, head + b"Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n\r\n")

    def send(self, data: bytes) -> bool:
        """Write a piece at once; whether the client keeps up.

        Raises:
            ConnectionError: the client left.

        """
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client left")
        if not data:  # a chunk of no bytes is the end
            return True
        transport.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        return transport.get_write_buffer_size() <= _BEHIND

    async def drained(self) -> None:
        """Wait while the client does not read."""
        if self._request is not None:
            await self._request.writer.drain()

    async def write(self, data: bytes) -> None:  # type: ignore[override]  # bytes only
        """Write a piece, and wait while the client does not read.

        Raises:
            ConnectionError: the client left.

        """
        if data and not self.send(data):
            await self.drained()

    async def write_eof(self, data: bytes = b"") -> None:
        """Write what is left and the end, once."""
        if self._ended or self._request is None:
            return
        self._ended = True
        end = b"0\r\n\r\n" if self._chunked else b""
        _send(self._request, self._framed(data) + end if data else end)
        await self._request.writer.drain()

    def _framed(self, data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data


def _head(request: web.BaseRequest, content_type: str, request_id: str, *, kept: bool) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nX-Request-Id: {request_id}\r\n"
        f"Server: {SOFTWARE}\r\nDate: {rfc822_formatted_time()}\r\n"
    )
    if not kept:
        head += "Connection: close\r\n"
    elif request.version < HttpVersion11:  # where to keep it is not the rule
        head += "Connection: keep-alive\r\n"
    return head.encode("latin-1")


def _send(request: web.BaseRequest, data: bytes) -> int:
    """Write to the client's socket; how many bytes now wait for it."""
    transport = request.transport
    if transport is None or transport.is_closing():
        raise ConnectionResetError("the client left")
    transport.write(data)
    return transport.get_write_buffer_size()
