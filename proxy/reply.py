"""The client's side of one exchange: its body in, its answer out.

With `server.py` the only code that knows the client's socket.  Everything a client sends is
bounded here: how much, how long, in which form.
"""

import asyncio
from itertools import chain
from urllib.parse import unquote

from aiohttp import HttpVersion10, HttpVersion11, hdrs, web

from .coding import CODINGS, decompressed, too_large
from .config import Limits
from .errors import BadRequest
from .exchange import Exchange, monotonic
from .responses import Chunked, Whole

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_LARGE = 64 << 10
"""Compressed bytes from which a thread decompresses; others run meanwhile."""
_VERSIONS = (HttpVersion11, HttpVersion10)
_MODELS = "/models/"


class Reply:
    """One exchange's way back to its client."""

    def __init__(self, request: web.BaseRequest, x: Exchange, limits: Limits) -> None:
        self._request = request
        self._x = x
        self._limits = limits
        self._stream: Chunked | None = None
        self._staged = b""
        self._content_type = ""
        self.path = request.rel_url.raw_path
        """As the client wrote it: only paths that need no decoding are served."""

    @property
    def started(self) -> bool:
        """Whether the client has got a status."""
        return self._stream is not None

    @property
    def status(self) -> int:
        """The status the client has got, 0 before."""
        return self._stream.status if self._stream is not None else 0

    @property
    def credentials(self) -> tuple[list[str], list[str]]:
        """All `Authorization` and all `x-api-key` values."""
        headers = self._request.headers
        return headers.getall(hdrs.AUTHORIZATION, []), headers.getall("x-api-key", [])

    @property
    def loopback(self) -> bool:
        """Whether the client is on this machine, as far as its address tells."""
        address = self._x.client_address
        return address.startswith("127.") or address in ("::1", "::ffff:127.0.0.1")

    @property
    def model_name(self) -> str | None:
        """The model that a path below /models/ names; None for the list."""
        _, found, name = self.path.partition(_MODELS)
        return unquote(name) if found else None

    def refuse_oddities(self) -> None:
        """Refuse what no plain API call has.  Raises BadRequest."""
        headers = self._request.headers
        if hdrs.UPGRADE in headers:
            raise BadRequest(
                "upgrade_refused", "connections are not upgraded here: WebSockets pass uninspected"
            )
        coding = headers.get(hdrs.TRANSFER_ENCODING, "chunked")
        if coding.strip().lower() != "chunked":  # RFC 9112 section 6.1 asks for 501
            raise BadRequest(
                "unsupported_transfer_coding", "only `chunked` is understood", status=501
            )
        if self._request.version not in _VERSIONS:
            raise BadRequest("bad_http", "speak HTTP/1.1 or HTTP/1.0")
        if not self._request.raw_path.startswith("/"):
            raise BadRequest(
                "absolute_url", "name a path of this server: it is no proxy for other addresses"
            )
        raw = self._request.raw_headers
        size = sum(map(len, chain.from_iterable(raw))) + 4 * len(raw)
        if size > self._limits.header_bytes:
            raise BadRequest(
                "headers_too_large",
                f"the headers have {size} bytes; at most {self._limits.header_bytes} are taken",
                status=431,
            )

    async def receive(self) -> bytes:
        """The whole body, decompressed.

        Raises:
            BadRequest: it is too large (413), too slow (408), or in a form not taken (415).

        """
        limit = self._limits.body
        coding = self._check_form(limit)
        body = await self._raw(limit)
        if not coding:
            return body
        if len(body) < _LARGE:
            return decompressed(body, coding, limit)
        return await asyncio.to_thread(decompressed, body, coding, limit)

    async def _raw(self, limit: int) -> bytes:
        request = self._request
        if hdrs.EXPECT in request.headers and (
            request.headers[hdrs.EXPECT].lower() == "100-continue"
        ):
            await request.writer.write(_CONTINUE)
            request.writer.output_size = 0
        content = request.content
        if content.is_eof():
            body = content.read_nowait(-1)
            if len(body) <= limit:
                return body
            raise too_large(limit)
        try:
            async with asyncio.timeout(self._limits.body_timeout):
                return await self._read(limit)
        except TimeoutError as error:
            raise BadRequest(
                "body_timeout",
                f"the body did not arrive within {self._limits.body_timeout:g} s",
                status=408,
            ) from error
        except web.RequestPayloadError as error:
            raise BadRequest("bad_body", "the body breaks off or is badly framed") from error

    async def _read(self, limit: int) -> bytes:
        pieces, size = [], 0
        while piece := await self._request.content.readany():
            size += len(piece)
            if size > limit:
                raise too_large(limit)
            pieces.append(piece)
        return b"".join(pieces)

    def _check_form(self, limit: int) -> str:
        """The body's coding, "" for none."""
        request = self._request
        headers = request.headers
        if hdrs.CONTENT_LENGTH in headers and (request.content_length or 0) > limit:
            raise too_large(limit)
        coding = ""
        if hdrs.CONTENT_ENCODING in headers:
            coding = ", ".join(headers.getall(hdrs.CONTENT_ENCODING)).lower()
        if coding and coding != "identity" and coding not in CODINGS:
            raise BadRequest(
                "unsupported_encoding", "send the body plain, or as gzip or deflate", status=415
            )
        plain = headers.get(hdrs.CONTENT_TYPE) == "application/json"
        if not plain and request.content_type != "application/json":
            raise BadRequest(
                "unsupported_media_type",
                "send the body as JSON, with the header `Content-Type: application/json`",
                status=415,
            )
        return coding if coding in CODINGS else ""

    def stage(self, body: bytes, content_type: str) -> None:
        """Keep what may go out only when the closing record is durable."""
        self._staged = body
        self._content_type = content_type

    async def start(self, content_type: str) -> None:
        """Send the head of a stream."""
        stream = Chunked(content_type, self._x.id)
        await stream.prepare(self._request)
        self._stream = stream

    async def write(self, data: bytes) -> None:
        """Send a piece of a stream, and wait while the client does not read.

        Raises:
            ConnectionError: the client left.  One that takes nothing for `limits.write_timeout`
                is cut off by its connection (`server.py`), which cancels the request.

        """
        if not self.send(data):
            await self.drained()

    def send(self, data: bytes) -> bool:
        """Send a piece of a stream at once; whether the client keeps up.

        Raises:
            ConnectionError: the client left.

        """
        if self._stream is None:
            raise AssertionError("send comes after start")
        if not self._x.timeline.answered:
            self._x.timeline.answered = monotonic()
        self._x.bytes_out += len(data)
        return self._stream.send(data)

    async def drained(self) -> None:
        """Wait while the client does not read."""
        if self._stream is not None:
            await self._stream.drained()

    async def finish(self) -> None:
        """Send what was staged, as the end of the stream or as the whole answer."""
        if self._stream is None:
            return
        self._x.bytes_out += len(self._staged)
        await self._stream.write_eof(self._staged)

    def response(self) -> web.StreamResponse:
        """The response to give back to aiohttp: the finished stream, or the staged answer."""
        if self._stream is not None:
            return self._stream
        x = self._x
        x.timeline.answered = x.timeline.answered or monotonic()
        x.bytes_out = len(self._staged)
        return Whole(self._staged, self._content_type, x.id)
