"""A relay of bytes between Tidegate and the engine that keeps what the engine was sent.

It ends one side as soon as the other has ended, so that an engine behind it notices a client
that leaves just as it would without it.
"""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

PIECE = 65536


class Tap:
    """Use as `with Tap(port) as tap:`; connect to `tap.port` to reach `port`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sent = bytearray()
        self._left = 0
        self._waiting: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()

    def __enter__(self) -> Self:
        """Begin to accept connections."""
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and end every connection."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for side in list(self._open):
            _end(side)

    def forget(self) -> None:
        """Drop what was kept so far."""
        with self._lock:
            self._sent.clear()

    @property
    def left(self) -> int:
        """How many connections to the engine were ended before its answer had begun."""
        with self._lock:
            return self._left

    @property
    def sent(self) -> bytes:
        """What the engine was sent since the start or the last `forget`."""
        with self._lock:
            return bytes(self._sent)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed by __exit__
            engine = socket.create_connection(("127.0.0.1", self._target))
            self._open |= {client, engine}
            for relay in (self._ask, self._answer):
                threading.Thread(target=relay, args=(client, engine), daemon=True).start()

    def _ask(self, client: socket.socket, engine: socket.socket) -> None:
        with suppress(OSError):  # either side may reset its connection
            while piece := client.recv(PIECE):
                with self._lock:
                    self._sent += piece
                    self._waiting.add(client)
                engine.sendall(piece)
        with self._lock:
            self._left += client in self._waiting
        self._end(client, engine)

    def _answer(self, client: socket.socket, engine: socket.socket) -> None:
        with suppress(OSError):  # either side may reset its connection
            while piece := engine.recv(PIECE):
                with self._lock:
                    self._waiting.discard(client)
                client.sendall(piece)
        self._end(client, engine)

    def _end(self, *sides: socket.socket) -> None:
        for side in sides:
            _end(side)
        self._open -= set(sides)


def _end(side: socket.socket) -> None:
    with suppress(OSError):  # it may have ended already
        side.shutdown(socket.SHUT_RDWR)
    side.close()
