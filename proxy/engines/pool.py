"""Engines that can stand in for each other.

When every engine is ejected for failed requests but its probe says it is well, the pool panics:
it uses them all the same, since a wrong ejection of everything would be an outage of our making.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from ..errors import NoEngine
from .balance import pick
from .engine import Engine


@dataclass(slots=True)
class Pool:
    """A named set of engines."""

    name: str
    engines: Sequence[Engine]
    random: Random
    required: bool = True
    """Whether the proxy is not ready while none of its engines is up."""
    retries: int = 1
    """Further engines to try before the client has got a byte."""

    @property
    def up(self) -> bool:
        """Whether a probe has found at least one engine well."""
        return any(engine.probed for engine in self.engines)

    def choose(self, now: float, tried: Collection[Engine] = ()) -> Engine:
        """An engine for a request, another than those tried where there is one.

        Raises:
            NoEngine: none can be given a request now.

        """
        if len(self.engines) == 1 and self.engines[0].usable(now):
            return self.engines[0]
        usable = [e for e in self.engines if e.usable(now)]
        if not usable:
            usable = [e for e in self.engines if e.probed is not False and not e.full]
        fresh = [e for e in usable if not any(e is t for t in tried)]
        if not usable:
            raise NoEngine(
                "no_engine", f"no engine of pool {self.name} is up; try again in some seconds"
            )
        return pick(fresh or usable, self.random)
