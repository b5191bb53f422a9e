"""A complete answer, written to the client's socket in one piece.

aiohttp's `Response` builds, copies and completes maps of headers for each answer, which took a
tenth of a request's time (docs/decisions/0008).  An answer of ours always has the same five.
"""

from aiohttp import web
from aiohttp.helpers import rfc822_formatted_time

SOFTWARE = "tidegate"
"""What the Server header says: neither our version nor aiohttp's."""


class Whole(web.StreamResponse):
    """A 200 with a body that is known to its last byte."""

    def __init__(self, body: bytes, content_type: str, request_id: str) -> None:
        super().__init__()
        self._content = body
        self._type = content_type
        self._id = request_id
        self._kept = False
        self._protocol: web.RequestHandler | None = None

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection goes on."""
        return self._kept

    async def prepare(self, request: web.BaseRequest) -> None:
        """Write head and body.  Raises ConnectionError if the client left."""
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client left")
        self._kept = request.keep_alive
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {self._type}\r\nX-Request-Id: {self._id}\r\n"
            f"Server: {SOFTWARE}\r\nDate: {rfc822_formatted_time()}\r\n"
            f"Connection: {'keep-alive' if self._kept else 'close'}\r\n"
            f"Content-Length: {len(self._content)}\r\n\r\n"
        ).encode("latin-1")
        transport.write(head if request.method == "HEAD" else head + self._content)
        self._protocol = request.protocol

    async def write_eof(self, data: bytes = b"") -> None:  # noqa: ARG002 - as aiohttp has it
        """Wait for a client that has not taken it: it may have sent more requests already."""
        protocol = self._protocol
        if protocol is not None and protocol.writing_paused:
            await protocol._drain_helper()  # noqa: SLF001 - what aiohttp's own responses wait for
