import numpy as np

from tidegate.detectors.injection.learned.classifier import Classifier
from tidegate.detectors.injection.learned.script import Script
from tidegate.detectors.injection.train.bags import Bags, nothing

TEXTS = ("Short one.", "A long text that says little. " * 40, "请看这里")


def made() -> Bags:
    return Bags(TEXTS, lambda number: None)


def test_texts_become_windows_in_their_order() -> None:
    seen: list[int] = []
    bags = Bags(TEXTS, seen.append)

    assert seen == [0, 1, 2]
    assert bags.counts.tolist()[0] == 1
    assert bags.counts[1] > 10
    assert bags.scripts == [Script.LATIN, Script.LATIN, Script.CJK]
    assert bags.owner[bags.first].tolist() == [0, 1, 2]


def test_scores_are_those_of_the_classifier() -> None:
    weights = np.random.default_rng(1).integers(-9, 9, len(nothing())).astype(np.float32)
    bags = made()
    weights[0] = 0

    for at, text in enumerate(TEXTS):
        cut = Bags([text], lambda number: None)
        assert np.isclose(cut.scores(weights)[0], bags.scores(weights)[at])
    assert isinstance(Classifier().version, str)


def test_the_highest_window_of_each_text_is_its_score() -> None:
    weights = np.random.default_rng(2).normal(size=len(nothing())).astype(np.float32)
    bags = made()
    chosen = bags.highest(weights)

    assert bags.owner[chosen].tolist() == [0, 1, 2]
    assert np.array_equal(bags.windows(weights)[chosen], bags.scores(weights))


def test_the_buckets_of_windows_can_be_gathered() -> None:
    bags = made()
    chosen = np.array([3, 0])
    seen, begins = bags.gather(chosen)
    size = int(bags.ends[3] - bags.starts[3])

    assert begins.tolist() == [0, size]
    assert np.array_equal(seen[:, :size], bags.buckets[:, bags.starts[3] : bags.ends[3]])
