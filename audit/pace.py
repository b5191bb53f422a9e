"""How often to sync: rarely under load, at once after a rest.

A sync costs 100 to 200 microseconds of CPU, so under load records wait for each other.  A caller
on a quiet machine must not wait for that: syncs not used are saved up, a few of them.
"""

import os
from contextlib import suppress

BURST = 8
"""Syncs that may follow each other at once after a rest: four requests with both their records."""


class Pace:
    """Grants one sync each `floor_s` seconds in the long run; 0 grants all."""

    def __init__(self, floor_s: float) -> None:
        self._floor_s = floor_s
        self._free_s = 0.0
        """From when on another sync is within the long run's share."""

    def rest_s(self, now: float) -> float:
        """Seconds to wait before the next sync; at most `floor_s`."""
        ahead = self._free_s - now - (BURST - 1) * self._floor_s
        return min(max(0.0, ahead), self._floor_s)

    def spend(self, now: float) -> None:
        """Count a sync that begins now."""
        self._free_s = max(self._free_s, now) + self._floor_s


def step_back() -> None:
    """Have this thread wait for a turn when it wakes, where the system knows that (Linux).

    A thread that wakes usually interrupts another, and in Python that is the one that holds the
    interpreter's lock: it is interrupted for nothing, and both lose their caches.  SCHED_BATCH
    (sched(7)) only takes that away, not the thread's share of the processor.
    """
    with suppress(AttributeError, OSError):  # another system, or one that forbids it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
