import numpy as np
from tests.detectors.injection.train.toy import BENIGN, HOSTILE

from tidegate.detectors.injection.train.bags import Bags
from tidegate.detectors.injection.train.linear import ROUNDS, Labels, fit

TEXTS = [*HOSTILE, *BENIGN]
ATTACKS = np.array([1.0] * len(HOSTILE) + [0.0] * len(BENIGN))


def labels(used: int = 1) -> Labels:
    return Labels(ATTACKS, np.ones(len(TEXTS)), np.full(len(TEXTS), used, np.int64))


def test_it_learns_to_tell_them_apart_and_tells_each_round() -> None:
    told: list[int] = []
    bags = Bags(TEXTS, lambda number: None)
    fitted = fit(bags, labels(), lambda number, loss: told.append(number))
    scores = fitted.scores(bags)

    assert told == list(range(ROUNDS))
    assert scores[ATTACKS == 1].min() > scores[ATTACKS == 0].max()
    assert fitted.weights[0] == 0


def test_the_same_samples_give_the_same_weights() -> None:
    bags = Bags(TEXTS, lambda number: None)
    one, other = (fit(bags, labels(), lambda number, loss: None) for _ in range(2))

    assert one.bias == other.bias
    assert one.weights.tobytes() == other.weights.tobytes()


def test_what_is_not_used_is_not_learnt() -> None:
    bags = Bags(TEXTS, lambda number: None)
    some = labels()
    some.used[: len(HOSTILE) // 2] = 0
    changed = Labels(ATTACKS.copy(), some.weights, some.used)
    changed.attacks[0] = 0

    one, other = (fit(bags, known, lambda n, loss: None) for known in (some, changed))
    assert one.weights.tobytes() == other.weights.tobytes()
