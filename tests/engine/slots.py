"""What llama.cpp says of its slots: whether it is still generating, and how much it has done."""

import json
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection

PATIENCE = 20.0
"""Seconds until something that must happen counts as not happening."""


class Slots:
    """Asks a llama.cpp server directly, past any proxy."""

    def __init__(self, port: int) -> None:
        self._port = port

    def busy(self) -> int:
        """How many slots are working on a request."""
        return sum(bool(slot["is_processing"]) for slot in json.loads(self._get("/slots")))

    def generated(self) -> int:
        """Tokens generated since the server started; counted when a request ends."""
        for line in self._get("/metrics").splitlines():
            name, _, value = line.partition(" ")
            if name == "llamacpp:tokens_predicted_total":
                return int(float(value))
        raise LookupError("the engine does not say how many tokens it has generated")

    def wait_until_busy(self) -> None:
        """Return once a slot works."""
        wait_until(lambda: self.busy() > 0, PATIENCE)

    def seconds_until_free(self) -> float:
        """Return once no slot works: how long that took."""
        start = time.monotonic()
        wait_until(lambda: self.busy() == 0, PATIENCE)
        return time.monotonic() - start

    def _get(self, path: str) -> str:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        with closing(connection):
            connection.request("GET", path)
            return connection.getresponse().read().decode()


def wait_until(true: Callable[[], bool], patience: float) -> None:
    """Ask again and again: another process does not tell when its state changes."""
    deadline = time.monotonic() + patience
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)
