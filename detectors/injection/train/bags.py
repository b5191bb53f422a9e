"""Samples as numbers: the buckets of all their characters, and the windows of each.

A label belongs to a sample, not to a window: which window of an attack is the attack has to be
found out while learning.  So a sample is a bag of windows, and its score that of the highest.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ...normalize import skeleton
from ..learned.features import BITS, ORDERS, buckets, codes
from ..learned.script import Script, script_of
from ..learned.windows import windows

LONGEST = 6000
"""Characters that are learnt from in one sample."""

Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class Bags:
    """Texts as the classifier sees them, in the order they were given."""

    def __init__(self, texts: Sequence[str], progress: Callable[[int], None]) -> None:
        rows, starts, ends, factors, counts = [], [], [], [], []
        at = 0
        self.scripts: list[Script] = []
        for number, text in enumerate(texts):
            progress(number)
            seen = codes(skeleton(text[:LONGEST]).text)
            script = script_of(seen)
            cut = windows(len(seen), script)
            rows.append(buckets(seen).astype(np.int32))
            starts.append(cut.starts + at)
            ends.append(cut.ends + at)
            factors.append(cut.factors)
            counts.append(len(cut.starts))
            self.scripts.append(script)
            at += len(seen)
        self.buckets = np.concatenate(rows, axis=1)
        self.starts, self.ends = np.concatenate(starts), np.concatenate(ends)
        self.factors: Floats = np.concatenate(factors)
        self.counts: Ints = np.array(counts, np.int64)
        self.first: Ints = np.cumsum(self.counts) - self.counts
        self.owner: Ints = np.repeat(np.arange(len(texts)), self.counts)

    def windows(self, weights: Weights) -> Floats:
        """The score of every window, without bias."""
        sums = np.zeros(self.buckets.shape[1] + 1)
        every = weights[self.buckets[0]].astype(np.float64)
        for order in range(1, len(ORDERS)):
            every += weights[self.buckets[order]]
        np.cumsum(every, out=sums[1:])
        found: Floats = (sums[self.ends] - sums[self.starts]) * self.factors
        return found

    def scores(self, weights: Weights) -> Floats:
        """The score of every text, without bias: that of its highest window."""
        found: Floats = np.maximum.reduceat(self.windows(weights), self.first)
        return found

    def highest(self, weights: Weights) -> Ints:
        """For every text its highest window, the first of equal ones."""
        values = self.windows(weights)
        most = np.maximum.reduceat(values, self.first)
        hits = np.flatnonzero(values == most[self.owner])
        _, firsts = np.unique(self.owner[hits], return_index=True)
        return hits[firsts]

    def gather(self, chosen: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """All buckets of these windows, a row an order, and the column where each one begins."""
        starts, sizes = self.starts[chosen], self.ends[chosen] - self.starts[chosen]
        begins: Ints = np.cumsum(sizes) - sizes
        columns: Ints = np.arange(sizes.sum()) + np.repeat(starts - begins, sizes)
        seen: npt.NDArray[np.int32] = self.buckets[:, columns]
        return seen, begins


def nothing() -> Weights:
    """Weights that know nothing yet."""
    return np.zeros(1 << BITS, np.float32)
