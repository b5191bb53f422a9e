"""Breaks a connection to an engine that keeps us waiting.

One timer for a connection's whole life, looked at when it fires: setting one for each request, or
for each read, would cost more than the read.
"""

import asyncio
from collections.abc import Callable


class Watch:
    """Calls `abort` when an engine that has the word is silent for too long.

    `beat` is the longest time between two looks, in seconds: no limit may be shorter.
    """

    def __init__(self, abort: Callable[[], None], beat: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._abort = abort
        self._beat = beat
        self._limit = beat
        self._since = 0.0
        """When the engine got the word; 0 while it has not."""
        self._on = False
        self._timer: asyncio.TimerHandle | None = None
        self.fired = False

    def begin(self, limit: float) -> None:
        """A request is sent, and may be left unanswered for `limit` seconds."""
        self.fired = False
        self._on = True
        self._limit = limit
        self._since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(min(limit, self._beat), self._look)

    def waiting(self) -> None:
        """The engine has the word."""
        self._since = self._loop.time()

    def heard(self, limit: float) -> None:
        """The engine said something; from now on it may be silent this long."""
        self._since = 0.0
        self._limit = limit

    def went_on(self, limit: float) -> None:
        """The engine said something, and has the word again."""
        self._since = self._loop.time()
        self._limit = limit

    def rest(self) -> None:
        """Nothing is awaited until the next request."""
        self._on = False

    def cancel(self) -> None:
        """There is nothing more to watch."""
        self._on = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if not self._on:
            return
        waited = self._loop.time() - self._since if self._since else 0.0
        if waited < self._limit:
            left = min(self._limit - waited, self._beat)
            self._timer = self._loop.call_later(left, self._look)
            return
        self.fired = True
        self._abort()  # wakes the reader, with an error
