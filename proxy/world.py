"""Everything a request needs, made at start and never changed.

A reload will build a new World and swap one reference; running exchanges keep theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..telemetry import Measurement, Telemetry
from .access import Access
from .config import Limits
from .dialects import Dialect
from .engines.upstream import Upstream
from .inspect import Inspector
from .recorder import Recorder
from .routes import Router


class Observer(Protocol):
    """Told of each request once it is over; MUST NOT raise, block or wait."""

    def settled(self, measurement: Measurement) -> None:
        """Take note of a finished request."""


@dataclass(frozen=True, slots=True)
class World:
    """The parts of a running proxy."""

    dialect: Dialect
    router: Router
    access: Access
    inspector: Inspector
    recorder: Recorder
    upstream: Upstream
    limits: Limits
    telemetry: Telemetry
    observers: Sequence[Observer]
    """Told besides telemetry."""
    record_first: bool
    """The opening record is durable before the engine is asked, not only before the answer."""
    started: int
    """Unix seconds, for model lists."""
    now: Callable[[], float]
    """A monotonic clock in seconds, for engines."""
