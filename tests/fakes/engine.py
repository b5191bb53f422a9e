"""A fake engine that speaks, and misspeaks, HTTP/1.1 on a bare asyncio transport.

It sits below any HTTP library so that a test decides every byte and every pause.  What to answer
is chosen, first match wins: by an answer that the test queued (`then`); by the rule the test set
(`answers`); by the model's name (`scenarios.py`); by the path.  Every request is on record in
`requests`, and tells when its client's connection ended (`gone`): that is how a proxy cancels.
"""

import asyncio
import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Any, Self, assert_never, cast

from tests.fakes.answers import Answer, Close, Pause, Reset, Send, Stall, Step, json_answer, whole
from tests.fakes.events import models_body
from tests.fakes.scenarios import SCENARIOS, completion, embeddings, normal

METRICS = b"vllm:num_requests_running 0.0\nvllm:num_requests_waiting 0.0\n"
USUAL: Mapping[str, Callable[[Any], Answer]] = MappingProxyType(
    {
        "/v1/chat/completions": normal,
        "/v1/completions": completion,
        "/v1/embeddings": embeddings,
    }
)
"""What a POST to each path is answered when nothing else was chosen."""


@dataclass(eq=False)
class Received:
    """One request as it came in, and what has become of it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    raw: bytes
    """Head and body as they came over the wire, chunk framing included."""
    connection: int
    """The number of the connection it came on, from 0: shows whether connections are reused."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the client's connection has ended, also after a complete answer."""
    resume: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the test to go on after a Stall."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once every step of the answer was carried out; never if the client left before."""
    stalled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the answer has come to a Stall."""

    @property
    def json(self) -> Any:
        """The parsed body; None if there is none, or it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case of letters."""
        return next((v for n, v in self.headers if n.lower() == name.lower()), None)


class FakeEngine:
    """Use as `async with FakeEngine() as engine:`; `engine.url` is its address."""

    def __init__(self, answers: Callable[[Received], Answer | None] | None = None) -> None:
        self.answers = answers
        self.requests: list[Received] = []
        self.connections = 0
        self.healthy = True
        """What GET /health, /v1/models and /api/version say: 200, or 503 as while loading."""
        self.models: tuple[str, ...] = ("fake",)
        self._queued: deque[Answer] = deque()
        self._arrived = asyncio.Condition()
        self._open: set[_Connection] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening and drop all connections."""
        await self.stop()

    @property
    def port(self) -> int:
        """The port it listens on, or did until `stop`; a restart takes the same one."""
        return self._port

    @property
    def url(self) -> str:
        """The base address, without a path."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def open_connections(self) -> int:
        """How many connections are open now."""
        return len(self._open)

    def then(self, *answers: Answer) -> None:
        """Queue answers for the next inference requests (POST), before every other choice."""
        self._queued.extend(answers)

    @property
    def calls(self) -> list[Received]:
        """The inference requests (POST) so far: without health checks and the like."""
        return [request for request in self.requests if request.method == "POST"]

    async def call(self, number: int = 0) -> Received:
        """The inference request of that number, counted from 0, as soon as it has arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.calls) > number)
        return self.calls[number]

    async def start(self) -> None:
        """Listen, on the port of last time if there was one."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(self), "127.0.0.1", self._port, reuse_address=True
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Die: refuse new connections, and reset the ones that are open."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._open):
            connection.reset()
        await asyncio.gather(*(connection.over.wait() for connection in list(self._open)))
        await self._server.wait_closed()
        self._server = None

    # What follows is for _Connection.

    def opened(self, connection: "_Connection") -> int:
        """Count a connection; returns its number."""
        self._open.add(connection)
        self.connections += 1
        return self.connections - 1

    def closed(self, connection: "_Connection") -> None:
        """Forget a connection."""
        self._open.discard(connection)

    async def answer(self, request: Received) -> Answer:
        """Put a request on record and choose its answer."""
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        if request.method == "POST" and self._queued:
            return self._queued.popleft()
        chosen = self.answers(request) if self.answers else None
        return self._usual(request) if chosen is None else chosen

    def _usual(self, request: Received) -> Answer:
        path = request.target.partition("?")[0]
        if request.method == "GET":
            return self._page(path)
        body = request.json
        model = body.get("model") if isinstance(body, dict) else None
        if scenario := SCENARIOS.get(str(model).removeprefix("fake-")):
            return scenario()
        usual = USUAL.get(path)
        return usual(body) if usual else json_answer({"detail": "Not Found"}, status=404)

    def _page(self, path: str) -> Answer:
        match path:
            case "/health" | "/v1/models" | "/api/version" if not self.healthy:
                loading = {"message": "Loading model", "type": "unavailable_error", "code": 503}
                return json_answer({"error": loading}, status=503)
            case "/health":
                return json_answer({"status": "ok"})
            case "/api/version":
                return json_answer({"version": "0.0.0"})
            case "/v1/models":
                return json_answer(models_body(*self.models))
            case "/metrics":
                return whole(METRICS, headers=[("Content-Type", "text/plain; version=0.0.4")])
            case _:
                return json_answer({"detail": "Not Found"}, status=404)


class _Connection(asyncio.Protocol):
    """One client's connection: reads requests one after the other and answers each in turn."""

    def __init__(self, engine: FakeEngine) -> None:
        self.over = asyncio.Event()
        self._engine = engine
        self._number = -1
        self._unread = bytearray()
        self._current: Received | None = None
        self._task: asyncio.Task[None] | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._number = self._engine.opened(self)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._current:
            self._current.gone.set()
        if self._task:
            self._task.cancel()
        self._may_write.set()
        self._engine.closed(self)
        self.over.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def reset(self) -> None:
        """Throw the connection away: with a linger time of 0 the kernel sends RST, not FIN."""
        sock = self._transport.get_extra_info("socket")
        if not self._transport.is_closing():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _go_on(self) -> None:
        if self._task and not self._task.done():
            return
        request = parse(bytes(self._unread), self._number)
        if request is None:
            return
        del self._unread[: len(request.raw)]
        self._current = request
        # Kept in self._task and ended by connection_lost at the latest.
        self._task = asyncio.get_running_loop().create_task(self._answer(request))
        self._task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and not self._transport.is_closing():
            self._go_on()

    async def _answer(self, request: Received) -> None:
        for step in await self._engine.answer(request):
            await self._carry_out(step, request)
            if self._transport.is_closing():
                break
        request.answered.set()

    async def _carry_out(self, step: Step, request: Received) -> None:
        match step:
            case Send(data):
                self._transport.write(data)
                await self._may_write.wait()
            case Stall():
                request.stalled.set()
                await request.resume.wait()
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Close():
                self._transport.close()
            case Reset():
                self.reset()
            case _:
                assert_never(step)


def parse(data: bytes, connection: int = 0) -> Received | None:
    """The first request in the data, or None while it is incomplete."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    request_line, *lines = data[:end].decode("latin-1").split("\r\n")
    method, target, _ = request_line.split(" ", 2)
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    fields = {name.lower(): value for name, value in headers}
    start = end + 4
    if "chunked" in fields.get("transfer-encoding", "").lower():
        found = _unchunk(data, start)
        if found is None:
            return None
        body, stop = found
    else:
        stop = start + int(fields.get("content-length", "0"))
        if len(data) < stop:
            return None
        body = data[start:stop]
    return Received(method, target, headers, body, data[:stop], connection)


def _unchunk(data: bytes, at: int) -> tuple[bytes, int] | None:
    """The joined chunks from offset `at`, and the offset behind the last; None if incomplete."""
    body = bytearray()
    while (line_end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:line_end].partition(b";")[0], 16)
        at = line_end + 2
        if len(data) < at + size + 2:
            return None
        body += data[at : at + size]
        at += size + 2
        if size == 0:
            return bytes(body), at
    return None
