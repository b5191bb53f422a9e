"""An inference engine inside this process, for the demo and for tests without a model.

It speaks the OpenAI API over real HTTP on the loopback interface, streams at a fixed pace, stops
at once when its client goes, and can be killed as a crash would kill it.  It is no mock of the
proxy's: the proxy knows only its address.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web

from . import shapes
from .shapes import Ask

MODEL = "demo-model"
HOST = "127.0.0.1"
KEPT_REQUESTS = 32
"""How many requests `seen` keeps: with MAX_BODY_BYTES this bounds its memory."""
MAX_BODY_BYTES = 1 << 20
SLOTS = 64
"""How many requests are answered at a time; the others wait, and are counted as waiting."""
STREAM_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it reached the engine."""

    path: str
    body: dict[str, Any]
    traceparent: str


class DemoEngine:
    """One embedded engine.

    `start` MUST be awaited before the first request and `stop` or `kill` at the end.  After
    either, `start` brings it back on the same port.
    """

    def __init__(self, name: str, *, port: int = 0, slots: int = SLOTS) -> None:
        self.name = name
        self.port = port
        """0 until the first start chose a free one."""
        self.seen: deque[Seen] = deque(maxlen=KEPT_REQUESTS)
        self.arrived = 0
        """Requests with a text to work on, whatever became of them."""
        self.running = 0
        self.waiting = 0
        self.broken_off = 0
        """Generations whose client went, or that died with the engine."""
        self.broken_off_ns = 0
        """When the last one was, on the monotonic clock."""
        self.tokens_sent = 0
        self.prompt_tokens = 0
        self._slots = asyncio.Semaphore(slots)
        self._finished: Counter[str] = Counter()
        self._change = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://{HOST}:{self.port}"

    async def start(self) -> None:
        """Listen.  Raises OSError if the port is taken."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.add_routes(
            [
                web.get("/health", _health),
                web.get("/metrics", self._metrics),
                web.get("/v1/models", self._models),
                web.post("/v1/chat/completions", self._generate),
                web.post("/v1/completions", self._generate),
                web.post("/v1/embeddings", self._embed),
                web.route("*", "/{path:.*}", _unknown),
            ]
        )
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0
        )
        await runner.setup()
        site = web.TCPSite(runner, HOST, self.port)
        try:
            await site.start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop listening and give running answers a second to end."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def kill(self) -> None:
        """Die as in a crash: every connection is reset, nothing is said, the port is closed."""
        if self._runner is None:
            return
        for site in tuple(self._runner.sites):
            await site.stop()
        server = self._runner.server
        for connection in server.connections if server else ():
            if connection.transport is not None:
                connection.transport.abort()
        await self.stop()

    async def until(self, state: Callable[[], bool]) -> None:
        """Wait until something about the engine is so; judged anew at each change of it."""
        while not state():
            await self._change.wait()

    def metrics(self) -> str:
        """Render the state in vLLM's metric names, in Prometheus' text format."""
        rows: list[tuple[str, str, str, float]] = [
            ("num_requests_running", "gauge", "", self.running),
            ("num_requests_waiting", "gauge", "", self.waiting),
            ("prompt_tokens_total", "counter", "", self.prompt_tokens),
            ("generation_tokens_total", "counter", "", self.tokens_sent),
        ]
        rows += [
            ("request_success_total", "counter", f',finished_reason="{reason}"', count)
            for reason, count in sorted(self._finished.items())
        ]
        lines: dict[str, None] = {}
        for name, kind, labels, value in rows:
            lines[f"# TYPE vllm:{name} {kind}"] = None
            lines[f'vllm:{name}{{model_name="{MODEL}"{labels}}} {float(value)}'] = None
        return "\n".join(lines) + "\n"

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(
            text=self.metrics(), headers={"Content-Type": "text/plain; version=0.0.4"}
        )

    async def _models(self, _request: web.Request) -> web.Response:
        return _json(shapes.models(MODEL))

    async def _embed(self, request: web.Request) -> web.Response:
        body = await _body(request)
        self._keep(request, body)
        _check_model(body)
        try:
            return _json(shapes.embeddings(body))
        except ValueError as wrong:
            raise _refusal(web.HTTPBadRequest, str(wrong)) from wrong

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        body = await _body(request)
        self._keep(request, body)
        _check_model(body)
        try:
            ask = shapes.read_ask(
                body,
                chat=request.path == "/v1/chat/completions",
                id=f"{self.name}-{self.arrived}",
                engine=self.name,
            )
        except ValueError as wrong:
            raise _refusal(web.HTTPBadRequest, str(wrong)) from wrong
        async with self._slot():
            if ask.stream:
                return await self._stream(request, ask)
            await self._tokens(ask)
            return _json(shapes.reply(ask))

    async def _stream(self, request: web.Request, ask: Ask) -> web.StreamResponse:
        response = web.StreamResponse(headers=STREAM_HEADERS)
        await response.prepare(request)
        await response.write(b"".join(shapes.opening(ask)) or b": started\n\n")
        await _wait_ms(ask.script.think_ms)
        for piece in ask.script.pieces:
            for event in shapes.token(ask, piece):
                await response.write(event)
            self._sent(ask.choices)
            await _wait_ms(ask.script.pace_ms)
        self._done(ask)
        await response.write(b"".join(shapes.closing(ask)))
        return response

    async def _tokens(self, ask: Ask) -> None:
        """Take as long as the stream would."""
        await _wait_ms(ask.script.think_ms)
        for _ in ask.script.pieces:
            self._sent(ask.choices)
            await _wait_ms(ask.script.pace_ms)
        self._done(ask)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """Hold one of the slots; a cancellation inside is counted and passed on."""
        self.waiting += 1
        self._changed()
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        self._changed()
        try:
            yield
        except (asyncio.CancelledError, ConnectionError):
            self.broken_off += 1
            self.broken_off_ns = time.monotonic_ns()
            raise
        finally:
            self.running -= 1
            self._slots.release()
            self._changed()

    def _keep(self, request: web.Request, body: dict[str, Any]) -> None:
        self.arrived += 1
        self.seen.append(Seen(request.path, body, request.headers.get("traceparent", "")))

    def _sent(self, count: int) -> None:
        self.tokens_sent += count

    def _done(self, ask: Ask) -> None:
        self.prompt_tokens += ask.prompt_tokens
        self._finished[ask.finish] += 1

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()


async def _health(_request: web.Request) -> web.Response:
    return _json({"status": "ok"})


async def _unknown(request: web.Request) -> web.Response:
    return _json(shapes.error(f"no such path: {request.method} {request.path}"), status=404)


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = orjson.loads(await request.read())
    except orjson.JSONDecodeError as wrong:
        raise _refusal(web.HTTPBadRequest, "the body is not JSON") from wrong
    if not isinstance(body, dict):
        raise _refusal(web.HTTPBadRequest, "the body must be an object")
    return body


def _check_model(body: dict[str, Any]) -> None:
    if body.get("model") != MODEL:
        message = f"the model does not exist; this engine has {MODEL}"
        raise _refusal(web.HTTPNotFound, message, "model_not_found")


def _refusal(
    kind: type[web.HTTPClientError], message: str, code: str | None = None
) -> web.HTTPClientError:
    told = orjson.dumps(shapes.error(message, code)).decode()
    return kind(text=told, content_type="application/json")


def _json(value: dict[str, Any], status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


async def _wait_ms(duration: int) -> None:
    await asyncio.sleep(duration / 1000)
