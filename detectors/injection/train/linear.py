"""Logistic regression over the windows of bags, by AdaGrad in small steps, in numpy alone.

In the first round a window has its text's label.  From then on an attack is learnt from the window
that is already its highest, a benign text from its highest and another one.  All sums are made in
a fixed order, so the same samples give the same weights.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .bags import Bags, Floats, Ints, Weights, nothing

ROUNDS = 5
_STEP = 0.07
_BATCH = 512
_DECAY = 1e-6
_FIRST_SHARE = 0.5
"""The part of all windows that the first round reads."""

_CROWD = 0.7
"""A text of n windows counts as n ** (1 - _CROWD) texts in a round."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known of each text: attack or not, how much it counts, whether it is learnt from."""

    attacks: Floats
    weights: Floats
    used: Ints
    """1 or 0."""


@dataclass(slots=True)
class Fitted:
    """Weights and bias."""

    weights: Weights
    bias: float

    def scores(self, bags: Bags) -> Floats:
        """The raw score of every text."""
        return bags.scores(self.weights) + self.bias


def fit(bags: Bags, labels: Labels, progress: Callable[[int, float], None]) -> Fitted:
    """Learn from the texts that are used; `progress` is told each round and its loss."""
    chance = np.random.Generator(np.random.PCG64(7))
    weights = _balanced(labels)
    state = _State()
    for number in range(ROUNDS):
        chosen = _chosen(bags, labels, state, chance, first=number == 0)
        share = weights / np.maximum(1, np.bincount(bags.owner[chosen], minlength=len(weights)))
        crowd = np.bincount(bags.owner[chosen], minlength=len(weights)).astype(np.float64)
        share *= np.maximum(1, crowd) ** (1 - _CROWD)
        loss = 0.0
        for start in range(0, len(chosen), _BATCH):
            loss += state.step(bags, chosen[start : start + _BATCH], labels.attacks, share)
        progress(number, loss / max(1, len(chosen)))
    return Fitted(state.weights, state.bias)


def _balanced(labels: Labels) -> Floats:
    """The weights, such that all attacks together count as much as all benign texts."""
    weights = labels.weights * labels.used
    attacks = labels.attacks > 0
    return np.where(attacks, weights * (weights[~attacks].sum() / weights[attacks].sum()), weights)


def _chosen(
    bags: Bags, labels: Labels, state: "_State", chance: np.random.Generator, *, first: bool
) -> Ints:
    """The windows of a round, in the order they are read."""
    if first:
        chosen = np.flatnonzero(chance.random(len(bags.owner)) < _FIRST_SHARE)
    else:
        other = bags.first + (chance.random(len(bags.first)) * bags.counts).astype(np.int64)
        other = other[labels.attacks[bags.owner[other]] == 0]
        chosen = np.concatenate((bags.highest(state.weights), other))
    chosen = chosen[labels.used[bags.owner[chosen]] > 0]
    return chance.permutation(chosen)


class _State:
    """Weights on their way, and how far each has been moved."""

    def __init__(self) -> None:
        self.weights = nothing()
        self.bias = -1.0
        self._moved = np.full_like(self.weights, 1e-3)
        self._bias_moved = 1e-3

    def step(self, bags: Bags, chosen: Ints, attacks: Floats, share: Floats) -> float:
        """Learn from one batch of windows; its loss."""
        seen, begins = bags.gather(chosen)
        owner, factors = bags.owner[chosen], bags.factors[chosen]
        sums = np.add.reduceat(self.weights[seen].sum(axis=0, dtype=np.float64), begins)
        chances = 1 / (1 + np.exp(-(sums * factors + self.bias)))
        truth = attacks[owner]
        error = (chances - truth) * share[owner]
        sizes = np.diff(np.append(begins, seen.shape[1]))
        each = np.repeat(error * factors, sizes)
        slope = np.bincount(
            seen.ravel(), weights=np.tile(each, len(seen)), minlength=len(self.weights)
        ).astype(np.float32)
        slope[0] = 0
        slope += np.float32(_DECAY * _BATCH) * self.weights
        self._moved += slope * slope
        self.weights -= np.float32(_STEP) * slope / np.sqrt(self._moved)
        lean = float(error.sum())
        self._bias_moved += lean * lean
        self.bias -= _STEP * lean / self._bias_moved**0.5
        right = np.where(truth > 0, chances, 1 - chances)
        return float(-(np.log(np.maximum(right, 1e-9)) * share[owner]).sum())
