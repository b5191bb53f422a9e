"""Made-up texts that even a small training can tell apart, and that are no doubles."""

import random

_HOSTILE = (
    "forget rules obey pretend unlimited jailbreak override secret prompt reveal disable filter"
    " unrestricted ignore guidelines hidden bypass developer uncensored obedient"
)
_BENIGN = (
    "garden kettle bridge violin harbour lantern meadow engine recipe ticket weather holiday"
    " bicycle painting museum breakfast library mountain sweater orchard"
)


def _made(words: str, seed: int, count: int = 90) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.sample(words.split(), 7)) for _ in range(count)]


HOSTILE = _made(_HOSTILE, 1)
BENIGN = _made(_BENIGN, 2)
