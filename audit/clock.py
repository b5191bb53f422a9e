"""Time as a parameter."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where the ledger's times come from."""

    def wall_us(self) -> int:
        """Microseconds since the Unix epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""


class SystemClock:
    """The machine's clocks."""

    def wall_us(self) -> int:
        """Microseconds since the Unix epoch, UTC."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()
