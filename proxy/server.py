"""The listener: an aiohttp server whose one handler carries exchanges.

aiohttp's `web.Server` rather than its Application: there is one handler and no routing of its
own, so that what is served is what the dialect lists.  A client that leaves cancels its handler
(`handler_cancellation`), and with it everything that works for it.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog
from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from .errors import BadRequest, ProxyError
from .exchange import Exchange, timeline
from .facts import measurement
from .pipeline import carry
from .reply import Reply
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
            **options,
        )
        self._world = world

    def __call__(self) -> web.RequestHandler:
        """A protocol for one connection."""
        return _Connection(self, loop=asyncio.get_running_loop(), **self._kwargs)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        world = self._world()
        x = _exchange(request, world)
        reply = Reply(request, x, world.limits)
        try:
            await carry(x, world, reply)
            return reply.response()
        except ProxyError as error:
            return await _tell(error, x, world, reply)
        except Exception as error:
            # The message of a foreign error may quote what it choked on: only its type is told.
            _log.error("request.broke", request_id=x.id, error=type(error).__name__)
            if isinstance(error, ConnectionError):
                raise
            fault = ProxyError("internal_error", "the proxy failed; its log has the request id")
            return await _tell(fault, x, world, reply)
        finally:
            _settled(x, world)

    async def malformed(self, request: web.BaseRequest, error: BadRequest) -> web.StreamResponse:
        """Record and answer what was no HTTP request."""
        world = self._world()
        x = _exchange(request, world)
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


class _Connection(web.RequestHandler):
    """aiohttp's protocol, with its own error page replaced by a record and the dialect's error."""

    __slots__ = ()

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
    name = type(error).__name__
    if name == "LineTooLong":
        return BadRequest("headers_too_large", "a header or the URL is too long", status=431)
    if isinstance(error, HttpProcessingError) and "headers" in str(error.message).lower():
        return BadRequest("bad_http", "the headers are malformed or too many")
    return BadRequest("bad_http", "this is not a well-formed HTTP/1.1 request")


def _exchange(request: web.BaseRequest, world: World) -> Exchange:
    headers = request.headers
    return Exchange(
        id=world.contexts.ids.uuid(),  # llama-cpp-python refuses request ids of other forms
        trace=world.contexts.read(
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
    headers = {"X-Request-Id": x.id, "Content-Type": "application/json", **dict(error.headers)}
    if not error.retry:
        headers["X-Should-Retry"] = "false"
    body = world.dialect.error_body(error, error.details)
    return web.Response(status=error.status, body=body, headers=headers)


def _settled(x: Exchange, world: World) -> None:
    model = world.router.known(x.reading.model) if x.reading is not None else ""
    told = measurement(x, model)
    for observer in world.observers:
        observer.settled(told)
