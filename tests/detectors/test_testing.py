from collections.abc import Callable

import pytest

from tidegate.detectors import Finding, Segment
from tidegate.detectors.testing import check_detector, hostile_texts


class Fake:
    """A detector whose `find` is given."""

    def __init__(self, find: Callable[[Segment], list[Finding]]) -> None:
        self.name = "fake"
        self.version = "1"
        self.kinds = frozenset({"pii.email"})
        self.find = find


def _first(segment: Segment) -> list[Finding]:
    if len(segment.text) <= segment.start:
        return []
    return [Finding("pii.email", segment.start, segment.start + 1, 0.5, "r")]


def _two(segment: Segment) -> list[Finding]:
    return [Finding("pii.email", at, at + 1, 0.5, "r") for at in (1, 0) if not segment.start]


def test_good_detector_passes() -> None:
    check_detector(Fake(_first), ["text"])


@pytest.mark.parametrize(
    ("find", "complaint"),
    [
        (lambda _: [], "finds nothing"),
        (lambda _: [Finding("pii.card", 0, 1, 0.5, "r")], "did not declare"),
        (lambda s: [Finding("pii.email", 0, len(s.text) + 1, 0.5, "r")], "reports 0"),
        (lambda _: [Finding("pii.email", 0, 1, 0.5, "r")], "reports 0"),
        (lambda s: [Finding("pii.email", s.start, s.start + 1, 2.0, "r")], "a score of 2"),
        (_two, "does not sort"),
    ],
)
def test_each_broken_rule_is_named(
    find: Callable[[Segment], list[Finding]], complaint: str
) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_detector(Fake(find), ["text"])


def test_detector_with_a_memory_is_caught() -> None:
    scores = iter(range(10))

    def find(segment: Segment) -> list[Finding]:
        return [Finding("pii.email", 0, 1, next(scores) / 10, "r")]

    with pytest.raises(AssertionError, match="differently"):
        check_detector(Fake(find), ["text"])


def test_detector_without_a_name_is_caught() -> None:
    fake = Fake(_first)
    fake.name = ""
    with pytest.raises(AssertionError, match="no name"):
        check_detector(fake)


def test_hostile_texts_hold_surrogates_nulls_and_long_runs() -> None:
    texts = list(hostile_texts())

    assert any("\ud800" in text for text in texts)
    assert any("\x00" in text for text in texts)
    assert max(len(text) for text in texts) >= 200_000
