"""What listens to clients: each request becomes an exchange, carried to its end.

A client that leaves cancels the task of its connection, and with it everything that works for it.
"""

import asyncio
from collections.abc import Callable
from functools import partial

import structlog

from .clients.connection import ClientConnection
from .clients.reply import Reply
from .clients.request import Request
from .clients.responses import CLOSE, refusal
from .errors import BadRequest, ProxyError
from .exchange import CLIENT_LEFT, Exchange, monotonic, timeline
from .facts import measurement
from .pipeline import carry
from .world import World

_log = structlog.get_logger(__name__)


class Server:
    """Answers the proxy's API on whatever listeners make connections of it."""

    def __init__(self, world: Callable[[], World]) -> None:
        self._world = world
        self.limits = world().limits
        self.refusal = _refusal(world())
        self.connections: set[ClientConnection] = set()
        self.active = 0
        """Requests that are being answered."""

    def __call__(self) -> ClientConnection:
        """A protocol for one connection."""
        return ClientConnection(self)

    async def shutdown(self, timeout: float) -> None:  # noqa: ASYNC109 - it is not an error
        """Take no more requests; let those that run finish for at most `timeout` seconds."""
        for connection in list(self.connections):
            connection.retire()
            if connection.current is None:
                connection.cut()
        tasks = self._tasks()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
            self.cut()
            await asyncio.wait(tasks)

    def cut(self) -> None:
        """Cut off what is still running; the records say that it was aborted."""
        for task in self._tasks():
            task.cancel()

    def _tasks(self) -> set["asyncio.Task[None]"]:
        return {c.task for c in self.connections if c.task is not None and not c.task.done()}

    async def answer(self, request: Request) -> bool:
        """Carry a request to its end; whether the connection may go on.

        Raises:
            ConnectionError: the client left.

        """
        world = self._world()
        x = _exchange(request, world)
        reply = Reply(request, x, world.limits)
        self.active += 1
        try:
            await carry(x, world, reply)
        except ProxyError as error:
            _tell(error, world, reply)
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            # The message of a foreign error may quote what it choked on: only its type is told.
            _log.error("request.broke", request_id=x.id, error=type(error).__name__)
            fault = ProxyError("internal_error", "the proxy failed; its log has the request id")
            _tell(fault, world, reply)
        finally:
            self.active -= 1
            _settled(x, world)
        return reply.kept

    async def malformed(self, request: Request, fault: BadRequest) -> None:
        """Record and answer what was no HTTP request.

        Raises:
            ConnectionError: the client left.

        """
        world = self._world()
        x = _exchange(request, world)
        error: ProxyError = fault
        x.failed(error, 0)
        try:
            await world.recorder.closed(x)
        except ProxyError as failure:
            error = failure
        finally:
            _settled(x, world)
        _tell(error, world, Reply(request, x, world.limits))

    def unanswered(self, request: Request) -> None:
        """Record a request whose client left before anything was done about it."""
        world = self._world()
        x = _exchange(request, world)
        if request.fault is not None:
            x.failed(request.fault, CLIENT_LEFT)
        else:
            x.broke(0, left=True)
        world.recorder.abandon(x)
        _settled(x, world)


def _exchange(request: Request, world: World) -> Exchange:
    contexts = world.telemetry.contexts
    parent = request.values(b"traceparent")
    return Exchange(
        id=contexts.ids.uuid(),  # the form that every engine takes
        trace=contexts.read(parent, request.values(b"tracestate") if parent else ()),
        method=request.method,
        path=request.path,
        client_address=request.sender.address,
        user_agent=request.header(b"user-agent") or "",
        client_request_id=request.header(b"x-request-id") or "",
        timeline=timeline(),
    )


def _tell(error: ProxyError, world: World, reply: Reply) -> None:
    """Say an error in the dialect."""
    dialect = world.dialect
    if reply.started:
        reply.conclude(dialect.error_event(error))
    else:
        reply.refuse(error, dialect.error_body(error, error.details))


def _settled(x: Exchange, world: World) -> None:
    model = world.router.known(x.reading.model) if x.reading is not None else ""
    x.timeline.settled = monotonic()  # the last wait for the log is part of the request's time
    world.telemetry.settled(partial(measurement, x, model))
    for observer in world.observers:
        observer.settled(measurement(x, model))


def _refusal(world: World) -> bytes:
    error = ProxyError("too_many_connections", "too many connections are open", status=503)
    body = world.dialect.error_body(error, {})
    return refusal(error.status, body, [("Retry-After", "5")], CLOSE)
