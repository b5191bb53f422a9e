"""What a fake engine sends: steps on the wire, and functions that put answers together.

An answer is a plain tuple of steps, so a test can place a stall, a pause or a reset between any
two bytes.  Nothing here does I/O: `engine.py` carries the steps out.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Headers = Sequence[tuple[str, str]]

REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    413: "Payload Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

SSE_HEADERS: Headers = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Transfer-Encoding", "chunked"),
)


@dataclass(frozen=True, slots=True)
class Send:
    """Write these bytes in one piece.  The kernel may join pieces unless a Pause parts them."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing until the test sets `Received.resume`, or the client leaves."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Send nothing for this many seconds; 0 only lets the other side read what was sent."""

    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection in the regular way (FIN) after everything sent so far."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Throw the connection away (RST); unread bytes are lost on the other side."""


Step = Send | Stall | Pause | Close | Reset
Answer = tuple[Step, ...]
CLEAN_END = Send(b"0\r\n\r\n")
"""The chunk that ends a chunked body."""


def head(status: int, headers: Headers) -> bytes:
    """The status line and headers, with the empty line."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(body: bytes, *, status: int = 200, headers: Headers = ()) -> Answer:
    """An answer of known length, sent in one piece."""
    fields = [*headers, ("Content-Length", str(len(body)))]
    return (Send(head(status, fields) + body),)


def json_answer(body: Any, *, status: int = 200, headers: Headers = ()) -> Answer:
    """A JSON answer; `body` is given as Python values, or as bytes to be sent as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return whole(data, status=status, headers=[("Content-Type", "application/json"), *headers])


def gzipped(body: Any) -> Answer:
    """A JSON answer with Content-Encoding: gzip."""
    data = gzip.compress(json.dumps(body).encode(), mtime=0)
    return json_answer(data, headers=[("Content-Encoding", "gzip")])


def chunk(data: bytes) -> bytes:
    """One piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def stream(
    *pieces: bytes | Step,
    end: Sequence[Step] = (CLEAN_END,),
    headers: Headers = SSE_HEADERS,
    status: int = 200,
) -> Answer:
    """A chunked answer: each of `pieces` that is bytes becomes one chunk and one write.

    Steps among the pieces are carried out where they stand.  `end` is what follows the last
    piece: the terminal chunk, or (Close(),), (Reset(),), (Stall(),).
    """
    steps: list[Step] = [Send(head(status, headers))]
    steps += [Send(chunk(piece)) if isinstance(piece, bytes) else piece for piece in pieces]
    return (*steps, *end)


def until_close(*pieces: bytes | Step) -> Answer:
    """A stream of no stated length: only the closing of the connection ends it (HTTP/1.0 way)."""
    fields: Headers = (("Content-Type", "text/event-stream"), ("Connection", "close"))
    steps = [Send(piece) if isinstance(piece, bytes) else piece for piece in pieces]
    return (Send(head(200, fields)), *steps, Close())


def apart(*pieces: bytes) -> Iterator[bytes | Step]:
    """The pieces with a pause after each, so that the client reads them one by one."""
    for piece in pieces:
        yield piece
        yield Pause()


def cut(data: bytes, size: int) -> list[bytes]:
    """The data in pieces of `size` bytes, wherever that falls: in an event, in a character."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def first_bytes(answer: Answer, count: int, ending: Step) -> Answer:
    """The first `count` bytes of an answer, head and framing included, then `ending`."""
    kept: list[Step] = []
    for step in answer:
        if isinstance(step, Send):
            kept.append(Send(step.data[:count]))
            count -= len(step.data)
        else:
            kept.append(step)
        if count <= 0:
            break
    return (*kept, ending)


def trickle(answer: Answer, size: int = 1) -> Answer:
    """The same bytes, at most `size` of them a write, with a pause after each: slow headers."""
    steps: list[Step] = []
    for step in answer:
        parts: Iterable[Step] = (
            [Send(part) for part in cut(step.data, size)] if isinstance(step, Send) else [step]
        )
        for part in parts:
            steps += [part, Pause()]
    return tuple(steps)


def after(step: Step, answer: Answer) -> Answer:
    """The answer, with `step` before its first byte."""
    return (step, *answer)


def then_close(answer: Answer) -> Answer:
    """A complete answer whose keep-alive connection the engine closes without having said so."""
    return (*answer, Close())
