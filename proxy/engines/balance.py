"""Which engine takes the next request: power of two choices.

Two engines drawn at random, the less busy one wins.  It needs no fresh view of all, and several
proxies do not herd onto the same engine as "least busy of all" makes them do (Mitzenmacher, "The
Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001).
"""

from collections.abc import Sequence
from random import Random

from .engine import Engine

_TWO = 2


def pick(candidates: Sequence[Engine], random: Random) -> Engine:
    """One of the candidates, of which there MUST be at least one."""
    if len(candidates) <= _TWO:
        first, second = candidates[0], candidates[-1]
    else:
        first, second = random.sample(candidates, _TWO)
    if first.load == second.load:
        return first if random.getrandbits(1) else second
    return first if first.load < second.load else second
