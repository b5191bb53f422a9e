"""The listener: an aiohttp server whose one handler carries exchanges.

aiohttp's `web.Server` rather than its Application: there is one handler and no routing of its
own, so that what is served is what the dialect lists.  A client that leaves cancels its handler
(`handler_cancellation`), and with it everything that works for it.

A connection costs something before it has asked anything, so each has its bounds here: how many
there are, how long a head may take to arrive, how long a client may take nothing of its answer.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

import structlog
from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
from aiohttp.http_writer import StreamWriter
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import ERROR, _ErrInfo
from multidict import CIMultiDict, MultiMapping

from .config import Limits
from .errors import BadRequest, ProxyError
from .exchange import Exchange, monotonic, timeline
from .facts import measurement
from .pipeline import carry
from .reply import Reply
from .responses import SOFTWARE
from .world import World

_log = structlog.get_logger(__name__)


class Server(web.Server):
    """Serves the proxy's API on whatever sockets it is given to."""

    def __init__(self, world: Callable[[], World], **options: Any) -> None:
        limits = world().limits
        super().__init__(
            self._handle,
            handler_cancellation=True,
            access_log=None,
            keepalive_timeout=limits.keepalive,
            max_line_size=8190,
            max_field_size=8190,
            max_headers=limits.header_count,
            read_bufsize=2**16,
            auto_decompress=False,
            **options,
        )
        self._world = world
        self.limits = limits
        self.active = 0
        """Requests that are being answered."""
        self.refusal = _refusal(world())
        """What a connection beyond `limits.max_connections` is told."""

    def __call__(self) -> web.RequestHandler:
        """A protocol for one connection."""
        return _Connection(self, loop=asyncio.get_running_loop(), **self._kwargs)

    @property
    def full(self) -> bool:
        """Whether there are as many connections as there may be."""
        return len(self._connections) >= self.limits.max_connections

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - aiohttp's
        """Let running requests finish for at most `timeout` seconds, then cut them off.

        aiohttp's own would wait twice as long, and return before the requests it cuts off have
        given their records to the log.
        """
        running = self._running()
        if running:
            await asyncio.wait(running, timeout=timeout)
        self.cut()
        if running:
            await asyncio.wait(running)
        await super().shutdown(0)

    def cut(self) -> None:
        """Cut off what is still running; the records say that it was aborted."""
        for task in self._running():
            task.cancel()

    def _running(self) -> set["asyncio.Task[None]"]:
        tasks = (c.running for c in self._connections if isinstance(c, _Connection))
        return {task for task in tasks if task is not None and not task.done()}

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        world = self._world()
        x = _exchange(request, request.headers, world)
        self.active += 1
        try:
            return await self._answer(x, world, Reply(request, x, world.limits))
        except ConnectionError:  # the client left: aiohttp would log that as a fault of ours
            request.protocol.force_close()
            return web.Response()
        finally:
            self.active -= 1
            _settled(x, world)

    async def _answer(self, x: Exchange, world: World, reply: Reply) -> web.StreamResponse:
        try:
            await carry(x, world, reply)
            return reply.response()
        except ProxyError as error:
            return await _tell(error, x, world, reply)
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            # The message of a foreign error may quote what it choked on: only its type is told.
            _log.error("request.broke", request_id=x.id, error=type(error).__name__)
            fault = ProxyError("internal_error", "the proxy failed; its log has the request id")
            return await _tell(fault, x, world, reply)

    async def malformed(self, request: web.BaseRequest, error: BadRequest) -> web.StreamResponse:
        """Record and answer what was no HTTP request."""
        world = self._world()
        x = _exchange(request, CIMultiDict(), world)  # aiohttp keeps nothing of such a head
        reply = Reply(request, x, world.limits)
        x.failed(error, 0)
        try:
            await world.recorder.closed(x)
        except ProxyError as failure:
            error = failure  # type: ignore[assignment]  # any error of the family can be told
        finally:
            _settled(x, world)
        response = await _tell(error, x, world, reply)
        response.force_close()
        return response


class _HeadLate(Exception):
    """A head did not arrive in time."""


class _Connection(web.RequestHandler):
    """aiohttp's protocol, with bounds, and a record and the dialect's error for its error page.

    Of bounds only timers are added: a request that comes in one read and an answer that is taken
    as it comes never start one.
    """

    __slots__ = ("_head_timer", "_limits", "_unsent", "_write_timer")

    def __init__(self, server: Server, **options: Any) -> None:
        super().__init__(server, **options)
        self._limits: Limits = server.limits
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._unsent = 0

    @property
    def running(self) -> "asyncio.Task[None] | None":
        """What carries this connection's requests, while there is a connection."""
        return self._task_handler

    async def start(self) -> None:
        """Answer the requests of this connection one after another, until one is the last.

        aiohttp's own makes a task for each request, to keep context variables apart.  Nothing here
        sets any, and the task took a tenth of a request's time.
        """
        try:
            while not self._force_close and await self._next():
                self._keep()
        except ConnectionError:
            pass  # the client left
        except Exception as error:  # noqa: BLE001 - of aiohttp's own, for ours are answered
            _log.error("connection.broke", error=type(error).__name__)
            self.force_close()
        except BaseException:  # cancelled: the client left, or there is no more time
            self.force_close()
            raise
        if not self._force_close:
            self._task_handler = None
            if self.transport is not None:
                self.transport.close()

    async def _next(self) -> bool:
        """Wait for a request and answer it; whether the connection may go on."""
        if not self._messages:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        message, payload = self._messages.popleft()
        self._let_go_on()
        handler = self._request_handler
        if isinstance(message, _ErrInfo):
            handler, message = self._make_error_handler(message), ERROR
        task = self._task_handler or asyncio.current_task()
        if handler is None or self._request_factory is None or task is None:
            return False  # the connection is lost
        writer = StreamWriter(self, self._loop)
        request = self._request_factory(message, payload, self, writer, task)
        response, left = await self._handle_request(request, None, handler)
        request._task = None  # type: ignore[assignment]  # noqa: SLF001 - else it keeps itself alive
        self._keepalive = bool(response.keep_alive)
        if not payload.is_eof():
            await self._discard(payload)
        return self._keepalive and not left and not self._close and not self._force_close

    def _let_go_on(self) -> None:
        """Make room for requests that the client has sent ahead."""
        if self._parser is not None:
            self._parser.message_consumed()
        if self._buffer_paused and len(self._messages) <= self._msg_queue_resume_size:
            self._resume_reading_if_drained()

    async def _discard(self, payload: StreamReader) -> None:
        """Read on for a while, so that a client still sending gets to read its answer."""
        if self._lingering_time:
            with suppress(TimeoutError, web.RequestPayloadError):
                async with asyncio.timeout(self._lingering_time):
                    while not payload.is_eof():
                        await payload.readany()
        if not payload.is_eof():
            self.close()

    def _keep(self) -> None:
        """Wait for the next request, but not for ever."""
        self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
        if self._keepalive_handle is None:
            self._keepalive_handle = self._loop.call_at(
                self._next_keepalive_close_time, self._process_keepalive
            )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        server = self._manager
        if isinstance(server, Server) and server.full:
            self._force_close = True  # whatever it sends is not looked at
            told = cast("asyncio.Transport", transport)  # uvloop's is none by its class
            told.write(server.refusal)
            told.close()
            return
        super().connection_made(transport)
        if not self._limits.keepalive:  # else that bounds a connection that says nothing
            self._await_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        waiter = self._waiter
        if waiter is not None and not waiter.done():  # no request has come whole, none is running
            if self._head_timer is None and data:
                self._await_head()
            return
        if self._head_timer is not None:
            self._stop_head_timer()
        if self._messages and isinstance(self._messages[-1][0], _ErrInfo):
            self._break_off()

    def _break_off(self) -> None:
        """Tell whoever reads a body that its framing is broken; else it waits for its timeout."""
        current = self._current_request
        if current is not None and not current.content.is_eof():
            self._lingering_time = 0.0  # there is no rest to be read
            current.content.set_exception(web.RequestPayloadError())

    def _await_head(self) -> None:
        self._head_timer = self._loop.call_later(self._limits.header_timeout, self._head_late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_late(self) -> None:
        """Answer as a malformed request is answered."""
        self._head_timer = None
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            info = _ErrInfo(status=408, exc=_HeadLate(), message="")
            self._messages.append((info, EMPTY_PAYLOAD))
            waiter.set_result(None)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_write_timer()

    def _watch_writing(self) -> None:
        transport = self.transport
        if transport is not None:
            self._unsent = transport.get_write_buffer_size()
            self._write_timer = self._loop.call_later(
                self._limits.write_timeout, self._look_at_writing
            )

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _look_at_writing(self) -> None:
        """Cut off a client that has taken nothing; a slow one gets another period."""
        self._write_timer = None
        transport = self.transport
        if transport is None:
            return
        if transport.get_write_buffer_size() < self._unsent:
            self._watch_writing()
        else:
            transport.abort()

    def _make_error_handler(self, err_info: Any) -> Any:
        server = self._manager
        if not isinstance(server, Server):
            return super()._make_error_handler(err_info)
        error = _http_error(err_info.exc)

        async def handler(request: web.BaseRequest) -> web.StreamResponse:
            return await server.malformed(request, error)

        return handler


def _http_error(error: BaseException) -> BadRequest:
    """What was wrong with the HTTP, without quoting it: it may hold a key."""
    if isinstance(error, _HeadLate):
        return BadRequest(
            "header_timeout", "the head of the request did not arrive in time", status=408
        )
    if isinstance(error, LineTooLong):
        return BadRequest("headers_too_large", "a header or the URL is too long", status=431)
    if isinstance(error, HttpProcessingError) and "headers" in str(error.message).lower():
        return BadRequest("bad_http", "the headers are malformed or too many")
    return BadRequest("bad_http", "this is not a well-formed HTTP/1.1 request")


def _exchange(request: web.BaseRequest, headers: MultiMapping[str], world: World) -> Exchange:
    return Exchange(
        id=world.telemetry.contexts.ids.uuid(),  # the form that every engine takes
        trace=world.telemetry.contexts.read(
            headers.getall("traceparent", ()), headers.getall("tracestate", ())
        ),
        method=request.method,
        path=request.rel_url.raw_path,
        client_address=request.remote or "",
        user_agent=headers.get(hdrs.USER_AGENT, ""),
        client_request_id=headers.get("X-Request-Id", ""),
        timeline=timeline(),
    )


async def _tell(error: ProxyError, x: Exchange, world: World, reply: Reply) -> web.StreamResponse:
    """Say an error in the dialect: as a reply, or as an event of a stream that has begun."""
    if reply.started:
        reply.stage(world.dialect.error_event(error), "")
        await reply.finish()
        return reply.response()
    headers = {"X-Request-Id": x.id, "Content-Type": "application/json", "Server": SOFTWARE}
    headers |= dict(error.headers)
    if not error.retry:
        headers["X-Should-Retry"] = "false"
    body = world.dialect.error_body(error, error.details)
    return web.Response(status=error.status, body=body, headers=headers)


def _settled(x: Exchange, world: World) -> None:
    model = world.router.known(x.reading.model) if x.reading is not None else ""
    x.timeline.settled = monotonic()  # the last wait for the log is part of the request's time
    world.telemetry.settled(partial(measurement, x, model))
    for observer in world.observers:
        observer.settled(measurement(x, model))


def _refusal(world: World) -> bytes:
    error = ProxyError("too_many_connections", "too many connections are open", status=503)
    body = world.dialect.error_body(error, {})
    head = (
        f"HTTP/1.1 503 Service Unavailable\r\nServer: {SOFTWARE}\r\nRetry-After: 5\r\n"
        "Content-Type: application/json\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
