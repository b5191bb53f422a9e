"""A client's connection: its requests are answered one by one, and its patience is bounded.

A connection costs something before it has asked anything, so each has its bounds: how long a head
may take to come, how much is read ahead, how long a client may take nothing of its answer.  Only
timers are added for it: a request that comes in one read and an answer that is taken as it comes
never start one.
"""

import asyncio
import socket
from collections import deque
from contextlib import suppress
from typing import Protocol, cast

import structlog

from ..config import Limits
from ..errors import BadRequest
from .reader import RequestReader
from .request import Request

HELD = 64 << 10
"""Bytes of a body that are taken before anybody asks for it: there may be no key to it."""
LINGER = 5.0
"""Seconds in which a client may end what it is sending, so that it gets to read its answer."""

_log = structlog.get_logger(__name__)


class Service(Protocol):
    """What answers requests.  Its methods raise ConnectionError if the client left."""

    limits: Limits
    connections: set["ClientConnection"]
    """Those that are open."""
    refusal: bytes
    """What a connection beyond `limits.max_connections` is told."""

    async def answer(self, request: Request) -> bool:
        """Answer; whether the connection may go on."""

    async def malformed(self, request: Request, fault: BadRequest) -> None:
        """Record and answer what was no HTTP."""

    def unanswered(self, request: Request) -> None:
        """Record a request whose client left before anything was done about it."""


class ClientConnection(asyncio.Protocol):
    """One connection."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._limits = service.limits
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader(self, service.limits)
        self._transport: asyncio.Transport | None = None
        self.address = ""
        """The client's IP address."""
        self.current: Request | None = None
        """The request that is being answered."""
        self.ahead: deque[Request] = deque()
        """Those that wait for their turn."""
        self.task: asyncio.Task[None] | None = None
        """What answers the requests."""
        self._last = False
        """No other request is taken."""
        self._paused = False
        """Nothing is read, for what was read is piling up."""
        self._asked: asyncio.Future[None] | None = None
        self._drain: asyncio.Future[None] | None = None
        self._full = False
        """The client is behind with reading."""
        self._unsent = 0
        self._idle_until = 0.0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None

    async def _run(self) -> None:
        """Answer the requests one after another, until one is the last."""
        told = False
        try:
            while await self._next():
                self._rest()
            told = True
        except ConnectionError:
            pass  # the client left
        except Exception as error:  # noqa: BLE001 - a fault of ours: the client meets an end
            _log.error("connection.broke", error=type(error).__name__)
        finally:
            self.current = None
            while self.ahead:
                self._service.unanswered(self.ahead.popleft())
            self._leave(linger=told and self._reader.over)

    async def _next(self) -> bool:
        """Wait for a request and answer it; whether the connection may go on."""
        if not self.ahead:
            if self._reader.in_head:
                self._await_head()
            self._asked = self._loop.create_future()
            try:
                await self._asked
            finally:
                self._asked = None
        request = self.current = self.ahead.popleft()
        if self._paused:
            self._pace()
        if request.fault is not None:
            await self._service.malformed(request, request.fault)
            return False
        kept = await self._service.answer(request)
        if not request.complete:
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    await request.pass_over()
        if self._full:  # what a client does not read must not pile up
            await self.drained()
        self.current = None
        return kept and request.complete and not self._last

    def _rest(self) -> None:
        """Wait for the next request, but not for ever."""
        self._idle_until = self._loop.time() + self._limits.keepalive
        if self._idle_timer is None:
            self._idle_timer = self._loop.call_at(self._idle_until, self._idle)

    def _idle(self) -> None:
        self._idle_timer = None
        if self.current is not None or self.ahead or self._reader.in_head:
            return  # at work; and a head that is coming has a time of its own
        if self._loop.time() < self._idle_until:
            self._idle_timer = self._loop.call_at(self._idle_until, self._idle)
        else:
            self._leave()

    def _leave(self, *, linger: bool = False) -> None:
        """Close the connection; what was written still goes out.

        With `linger` the client is left to close first: our closing while it sends would reset
        the connection, and with it our last words.
        """
        self._reader.over = True
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if linger:
            transport.write_eof()
            self._linger_timer = self._loop.call_later(LINGER, transport.abort)
        else:
            transport.close()

    def retire(self) -> None:
        """Take no other request; a connection that rests is closed."""
        self._last = True
        if self.current is not None:
            self.current.keep_alive = False
        elif not self.ahead:
            self._leave()

    def cut(self) -> None:
        """Break off what runs."""
        if self.task is not None:
            self.task.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport, or turn the client away."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        if len(self._service.connections) >= self._limits.max_connections:
            self._transport.write(self._service.refusal)
            self._leave()
            return
        self._service.connections.add(self)
        name = transport.get_extra_info("peername")
        self.address = name[0] if name else ""
        # A client that has vanished without a word is noticed, some day.
        line = transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.task = self._loop.create_task(self._run())
        if self._limits.keepalive:
            self._rest()
        else:  # else that bounds a connection that says nothing
            self._await_head()

    def connection_lost(self, exc: BaseException | None) -> None:  # noqa: ARG002 - asyncio's
        """Break off what is done for the client."""
        self._transport = None
        self._reader.over = True
        self._service.connections.discard(self)
        timers = self._idle_timer, self._head_timer, self._write_timer, self._linger_timer
        for timer in timers:
            if timer is not None:
                timer.cancel()
        self.cut()

    def data_received(self, data: bytes) -> None:
        """Read what the client sends."""
        self._reader.feed(data)
        if self.current is not None:
            self._pace()
        elif self._reader.in_head:
            if self._head_timer is None:
                self._await_head()
        elif self._head_timer is not None:
            self._stop_head_timer()

    def new(self) -> Request:
        """A request of this client."""
        request = Request(self, self._pace, self._limits.body)
        request.keep_alive = not self._last
        return request

    def arrived(self, request: Request) -> None:
        """It is answered when its turn comes."""
        self.ahead.append(request)
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(None)

    def _pace(self) -> None:
        """Read on only as long as what is read does not pile up."""
        current, transport = self.current, self._transport
        if current is None or transport is None or transport.is_closing():
            return
        crowded = bool(self.ahead) or current.held > HELD
        if crowded != self._paused:
            self._paused = crowded
            if crowded:
                transport.pause_reading()
            else:
                transport.resume_reading()

    def _await_head(self) -> None:
        self._head_timer = self._loop.call_later(self._limits.header_timeout, self._head_late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_late(self) -> None:
        """Answer as a malformed request is answered."""
        self._head_timer = None
        if self.current is None and not self.ahead:
            self._reader.fail(
                BadRequest(
                    "header_timeout", "the head of the request did not arrive in time", status=408
                )
            )

    def send(self, data: bytes) -> int:
        """Write; how many bytes now wait for the client.  Raises ConnectionError if it left."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client left")
        transport.write(data)
        return transport.get_write_buffer_size()

    async def drained(self) -> None:
        """Wait while the client does not read.  Raises ConnectionError if it left."""
        if self._full:
            self._drain = self._loop.create_future()
            try:
                await self._drain
            finally:
                self._drain = None
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the client left")

    def pause_writing(self) -> None:
        """See to it that the client takes something."""
        self._full = True
        self._watch_writing()

    def resume_writing(self) -> None:
        """Go on."""
        self._full = False
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        if self._drain is not None and not self._drain.done():
            self._drain.set_result(None)

    def _watch_writing(self) -> None:
        if self._transport is not None:
            self._unsent = self._transport.get_write_buffer_size()
            self._write_timer = self._loop.call_later(
                self._limits.write_timeout, self._look_at_writing
            )

    def _look_at_writing(self) -> None:
        """Cut off a client that has taken nothing; a slow one gets another period."""
        self._write_timer = None
        transport = self._transport
        if transport is None:
            return
        if transport.get_write_buffer_size() < self._unsent:
            self._watch_writing()
        else:
            transport.abort()
