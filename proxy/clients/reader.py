"""Makes requests of the bytes of one connection, to bounds.  No I/O.

httptools is llhttp, the parser of Node.js, at its strict settings: what smuggles or misframes is
an error (docs/decisions/0013).  A request is handed on as soon as its head is whole.
"""

from typing import Protocol

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from ..config import Limits
from ..errors import BadRequest
from .request import Request

LONGEST_FIELD = 8190
"""Bytes of a header or of the target: as much as other servers take."""
MOST_AHEAD = 16
"""Requests that may come whole in one read."""


class Receiver(Protocol):
    """Who gets the requests."""

    def new(self) -> Request:
        """A request that begins to come."""

    def arrived(self, request: Request) -> None:
        """Its head has come, or it is faulty."""


class RequestReader:
    """The reader of one connection; `over` once it has met an end of what can be read."""

    def __init__(self, receiver: Receiver, limits: Limits) -> None:
        self._receiver = receiver
        self._limits = limits
        self._parser = HttpRequestParser(self)
        self._head: Request | None = None
        self._body: Request | None = None
        self._target = b""
        self._room = 0
        """Bytes that may still come of a head, or of what a body has besides its pieces."""
        self._count = 0
        self._fields = 0
        self._fault: BadRequest | None = None
        self.over = False

    @property
    def in_head(self) -> bool:
        """Whether a head has begun to come."""
        return self._head is not None

    def feed(self, data: bytes) -> None:
        """Read more, unless it is over."""
        if self.over:
            return
        head, body = self._head, self._body
        size = body.size if body is not None else 0
        self._count = 0
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:  # the head is told of it; what follows is another protocol's
            self.over = True
        except HttpParserError:
            self.fail(self._fault or _malformed())
        if head is not None and head is self._head:
            self._spend(len(data))
        elif body is not None and body is self._body:
            if body.size > size:
                self._room = self._limits.header_bytes
            else:
                self._spend(len(data))  # framing, or headers behind the body

    def fail(self, fault: BadRequest) -> None:
        """Read no more: who waits for a body is told, else a faulty request has arrived."""
        if self.over:
            return
        self.over = True
        if self._body is not None:
            self._body.break_off(fault)
            return
        request = self._head or self._receiver.new()
        self._head = None
        request.target = self._target.decode("latin-1")
        if request.target:
            request.method = self._parser.get_method().decode("latin-1")
        request.break_off(fault)
        self._receiver.arrived(request)

    def _spend(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            self.fail(_too_large())

    # What follows is called by httptools.

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._count += 1
        self._target = b""
        if self._count > MOST_AHEAD:
            self._refuse(BadRequest("bad_http", "too many requests come ahead of their answers"))
        self._head = self._receiver.new()
        self._room = self._limits.header_bytes
        self._fields = self._limits.header_count

    def on_url(self, part: bytes) -> None:
        """Take the target, or more of it."""
        self._target += part
        if len(self._target) > LONGEST_FIELD:
            self._refuse(BadRequest("headers_too_large", "the URL is too long", status=431))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind a chunked body say nothing that is used."""
        request = self._head
        if request is None:
            return
        size = len(name) + len(value)
        self._room -= size + 4  # colon, blank, CR, LF
        self._fields -= 1
        if size > LONGEST_FIELD or self._room < 0 or self._fields < 0:
            self._refuse(self._excess(size))
        request.add(name.lower(), value)

    def on_headers_complete(self) -> None:
        """Hand the request on."""
        request, parser = self._head, self._parser
        if request is None:
            return
        request.method = parser.get_method().decode("latin-1")
        request.version = parser.get_http_version()
        request.target = self._target.decode("latin-1")
        request.keep_alive = request.keep_alive and parser.should_keep_alive()
        self._head = None
        self._body = request
        self._room = self._limits.header_bytes
        self._receiver.arrived(request)

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        if self._body is not None:
            self._body.took(piece)

    def on_message_complete(self) -> None:
        """The request has come."""
        if self._body is not None:
            self._body.end()
            self._body = None

    def _excess(self, size: int) -> BadRequest:
        if size > LONGEST_FIELD:
            return BadRequest("headers_too_large", "a header is too long", status=431)
        if self._fields < 0:
            return BadRequest("bad_http", "there are too many headers")
        return _too_large()

    def _refuse(self, fault: BadRequest) -> None:
        self._fault = fault
        raise fault


def _malformed() -> BadRequest:
    """It does not quote what it was: that may hold a key."""
    return BadRequest("bad_http", "this is not a well-formed HTTP/1.1 request")


def _too_large() -> BadRequest:
    return BadRequest("headers_too_large", "the headers have too many bytes", status=431)
