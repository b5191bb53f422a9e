import pytest

from tidegate.detectors.injection.train import senseless


def test_the_texts_are_the_same_each_time_and_mostly_different_ones() -> None:
    texts = senseless.texts(140)

    assert texts == senseless.texts(140)
    assert len(set(texts)) > 120


@pytest.mark.parametrize("kind", range(len(senseless.SHAPES)))
def test_each_kind_says_something(kind: int) -> None:
    texts = senseless.texts(len(senseless.SHAPES) * 5)[kind :: len(senseless.SHAPES)]

    assert all(text.strip() or set(text) <= {" ", "\n"} for text in texts)
    assert all(len(text) < 20_000 for text in texts)
