"""Chance that falls the same way each time, in every version of Python.

Only `random.Random.random` is promised to stay the same, so all choices are made from it.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A source of choices, by seed."""

    def __init__(self, seed: str) -> None:
        # Seeded by the characters' code points: hashing a string may change between versions.
        self._random = random.Random(int.from_bytes(seed.encode(), "big"))  # noqa: S311 - no secret

    def below(self, limit: int) -> int:
        """A whole number, 0 to `limit` - 1; 0 for a limit of 0."""
        return int(self._random.random() * limit)

    def happens(self, share: float) -> bool:
        """Whether something that happens in this share of cases does."""
        return self._random.random() < share

    def of(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of them, in another order."""
        mixed = list(items)
        for at in range(len(mixed) - 1, 0, -1):
            other = self.below(at + 1)
            mixed[at], mixed[other] = mixed[other], mixed[at]
        return mixed
