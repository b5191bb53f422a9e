"""The client's side of one exchange: its body in, its answer out.

Everything a client sends is bounded here or in its connection: how much, how long, in which form.
"""

import asyncio
from urllib.parse import unquote

from ..coding import CODINGS, decompressed, too_large
from ..config import Limits
from ..errors import BadRequest, ProxyError
from ..exchange import Exchange, monotonic
from .request import Request
from .responses import CLOSE, CONTINUE, END, JSON, KEEP, chunk, refusal, stream, whole

_LARGE = 64 << 10
"""Compressed bytes from which a thread decompresses; others run meanwhile."""
_BEHIND = 16 << 10
"""Bytes the client has not yet taken from which it is worth asking whether to wait."""
_NEW, _OLD = "1.1", "1.0"
_MODELS = "/models/"


class Reply:
    """One exchange's way back to its client."""

    def __init__(self, request: Request, x: Exchange, limits: Limits) -> None:
        self._request = request
        self._x = x
        self._limits = limits
        self._chunked = request.version == _NEW
        self._staged = b""
        self._content_type = ""
        self.path = request.path
        """As the client wrote it: only paths that need no decoding are served."""
        self.started = False
        """Whether the client has got a status."""

    @property
    def kept(self) -> bool:
        """Whether the connection can go on after the answer."""
        return self._request.keep_alive and (self._chunked or not self.started)

    @property
    def status(self) -> int:
        """The status the client has got, 0 before."""
        return 200 if self.started else 0

    @property
    def credentials(self) -> tuple[list[str], list[str]]:
        """All `Authorization` and all `x-api-key` values."""
        return self._request.values(b"authorization"), self._request.values(b"x-api-key")

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
        request = self._request
        headers = request.headers
        if b"upgrade" in headers:
            raise BadRequest(
                "upgrade_refused", "connections are not upgraded here: WebSockets pass uninspected"
            )
        if b"transfer-encoding" in headers:
            codings = ",".join(request.values(b"transfer-encoding"))
            if codings.lower() != "chunked":  # RFC 9112 section 6.1 asks for 501
                raise BadRequest(
                    "unsupported_transfer_coding", "only `chunked` is understood", status=501
                )
        if request.version not in (_NEW, _OLD):
            raise BadRequest("bad_http", "speak HTTP/1.1 or HTTP/1.0")
        hosts = len(request.values(b"host"))
        if hosts > 1 or (hosts < 1 and request.version == _NEW):  # RFC 9112 section 3.2
            raise BadRequest("bad_http", "name the host once, in the header `Host`")
        if not request.target.startswith("/"):
            raise BadRequest(
                "absolute_url", "name a path of this server: it is no proxy for other addresses"
            )

    async def receive(self) -> bytes:
        """The whole body, decompressed.

        Raises:
            BadRequest: it is too large (413), too slow (408), or in a form not taken (415).

        """
        limit = self._limits.body
        coding = self._check_form(limit)
        request = self._request
        body = request.whole() if request.complete else await self._coming()
        if not coding:
            return body
        if len(body) < _LARGE:
            return decompressed(body, coding, limit)
        return await asyncio.to_thread(decompressed, body, coding, limit)

    async def _coming(self) -> bytes:
        request = self._request
        if (request.header(b"expect") or "").lower() == "100-continue":
            request.sender.send(CONTINUE)
        try:
            async with asyncio.timeout(self._limits.body_timeout):
                return await request.body()
        except TimeoutError as error:
            raise BadRequest(
                "body_timeout",
                f"the body did not arrive within {self._limits.body_timeout:g} s",
                status=408,
            ) from error

    def _check_form(self, limit: int) -> str:
        """The body's coding, "" for none."""
        request = self._request
        headers = request.headers
        if int(headers.get(b"content-length", b"0")) > limit:  # httptools lets only digits pass
            raise too_large(limit)
        coding = ""
        if b"content-encoding" in headers:
            coding = ", ".join(request.values(b"content-encoding")).lower()
        if coding and coding != "identity" and coding not in CODINGS:
            raise BadRequest(
                "unsupported_encoding", "send the body plain, or as gzip or deflate", status=415
            )
        if headers.get(b"content-type") != b"application/json" and not _is_json(request):
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

    def start(self, content_type: str) -> None:
        """Send the head of a stream.  Raises ConnectionError if the client left."""
        self.started = True
        head = stream(content_type, self._x.id, self._connection, chunked=self._chunked)
        self._request.sender.send(head)

    async def write(self, data: bytes) -> None:
        """Send a piece of a stream, and wait while the client does not read.

        Raises:
            ConnectionError: the client left.  One that takes nothing for `limits.write_timeout`
                is cut off by its connection, which cancels the request.

        """
        if not self.send(data):
            await self.drained()

    def send(self, data: bytes) -> bool:
        """Send a piece of a stream at once; whether the client keeps up.

        Raises:
            ConnectionError: the client left.

        """
        if not self.started:
            raise AssertionError("send comes after start")
        if not data:
            return True
        if not self._x.timeline.answered:
            self._x.timeline.answered = monotonic()
        self._x.bytes_out += len(data)
        return self._request.sender.send(chunk(data) if self._chunked else data) <= _BEHIND

    async def drained(self) -> None:
        """Wait while the client does not read."""
        await self._request.sender.drained()

    def finish(self) -> None:
        """Send what was staged, as the end of the stream or as the whole answer.

        Raises:
            ConnectionError: the client left.

        """
        x, staged = self._x, self._staged
        x.bytes_out += len(staged)
        if not self.started:
            x.timeline.answered = monotonic()
            data = whole(staged, self._content_type, x.id, self._connection)
        elif self._chunked:
            data = chunk(staged) + END if staged else END
        else:
            data = staged
        self._last(data)

    def conclude(self, event: bytes) -> None:
        """Say in a stream that has begun that it failed, and end it."""
        self._staged = event
        self.finish()

    def refuse(self, error: ProxyError, body: bytes) -> None:
        """Say that there is no answer."""
        headers = [("X-Request-Id", self._x.id), *error.headers]
        if not error.retry:
            headers.append(("X-Should-Retry", "false"))
        self._last(refusal(error.status, body, headers, self._connection))

    def _last(self, data: bytes) -> None:
        if self._request.method == "HEAD":  # RFC 9110 section 9.3.2: no body, whatever the head
            data = data.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        if data:
            self._request.sender.send(data)

    @property
    def _connection(self) -> str:
        """The Connection header, where there must be one."""
        if not self.kept:
            return CLOSE
        return "" if self._chunked else KEEP


def _is_json(request: Request) -> bool:
    media_type = (request.header(b"content-type") or "").partition(";")[0]
    return media_type.strip().lower() == JSON
