"""The stretches of a text that are judged, each by itself: an attack in a long text is short.

Two lengths, since an order may be a sentence and a jailbreak a page; stretches of one length
overlap by three quarters.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .script import Script

LENGTHS = {
    Script.LATIN: (160, 480),
    Script.CJK: (60, 180),
    Script.OTHER: (160, 480),
}
"""Characters of the two kinds of window; Chinese says as much in fewer."""

_WHOLE = 1.25
"""A text of up to so many short windows is judged as a whole only."""

_STEPS = 4
_SHORT = 20
"""Added to each length, so that a few characters prove little."""

_CACHED = 1024
"""Sizes whose windows are kept: at the longest chunk about 10 KB each."""

Places = npt.NDArray[np.int64]


class Windows(NamedTuple):
    """Where they start and end, half-open, and what the sum over each is multiplied by."""

    starts: Places
    ends: Places
    factors: npt.NDArray[np.float64]


@lru_cache(_CACHED)
def windows(size: int, script: Script) -> Windows:
    """The windows of a text of that many characters; there is at least one."""
    short, long = LENGTHS[script]
    if size <= short * _WHOLE:
        pairs = [(0, size)]
    else:
        pairs = _of_length(size, short) + _of_length(size, long)
    starts, ends = np.array(pairs, np.int64).T.copy()
    return Windows(starts, ends, 1 / np.sqrt(ends - starts + _SHORT))


def _of_length(size: int, length: int) -> list[tuple[int, int]]:
    if size <= length:
        return [(0, size)]
    step = length // _STEPS
    ends = [min(start + length, size) for start in range(0, size - length + step, step)]
    return [(end - length, end) for end in ends]
