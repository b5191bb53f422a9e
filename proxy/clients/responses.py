"""What goes over the wire to a client: heads, chunks and ends of answers, as bytes.

Answers of ours always have the same few headers, so no map of headers is built for them.
"""

from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time

SOFTWARE = "tidegate"
"""What the Server header says: no version of ours."""

EVENTS = "text/event-stream"
JSON = "application/json"

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
END = b"0\r\n\r\n"
"""The chunk of no bytes, which ends a chunked body."""

CLOSE = "Connection: close\r\n"
KEEP = "Connection: keep-alive\r\n"
"""To HTTP/1.0, where keeping it is not the rule."""


def whole(body: bytes, content_type: str, request_id: str, connection: str = "") -> bytes:
    """A 200 with a body that is known to its last byte; `connection` is "", CLOSE or KEEP."""
    end = f"{connection}Content-Length: {len(body)}\r\n"
    return _head("200 OK", content_type, f"X-Request-Id: {request_id}\r\n", end) + body


def stream(content_type: str, request_id: str, connection: str, *, chunked: bool) -> bytes:
    """The head of a 200 whose body comes in pieces; unchunked it ends with the connection."""
    coding = "Transfer-Encoding: chunked\r\n" if chunked else ""
    # X-Accel-Buffering asks an nginx in front not to hold tokens back.
    end = f"{connection}{coding}Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
    return _head("200 OK", content_type, f"X-Request-Id: {request_id}\r\n", end)


def refusal(
    status: int, body: bytes, headers: Iterable[tuple[str, str]], connection: str = ""
) -> bytes:
    """An error, whose body is JSON."""
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
    end = f"{connection}Content-Length: {len(body)}\r\n"
    return _head(f"{status} {_reason(status)}", JSON, fields, end) + body


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body.  `data` is not empty: that would be the end."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _head(status: str, content_type: str, fields: str, end: str) -> bytes:
    """A head; `fields` and `end` are header lines of one answer, each line with its line end."""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{fields}"
        f"Server: {SOFTWARE}\r\nDate: {_date(int(time()))}\r\n{end}\r\n"
    )
    return head.encode("latin-1")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """A moment as RFC 9110 section 5.6.7 has it."""
    return formatdate(second, usegmt=True)


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
