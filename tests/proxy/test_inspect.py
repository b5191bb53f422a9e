import pytest
import structlog
from tests.proxy.exchanges import Shapes, text

from tidegate.detectors import Finding, Pattern, Segment
from tidegate.policies import Direction
from tidegate.proxy.inspect import Inspector, size

WORD = text("my word")


class Plain:
    """A detector without patterns of its own, which notes what it was asked."""

    name = "plain"
    version = "2"
    kinds = frozenset({"test.sense"})

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find(self, segment: Segment) -> list[Finding]:
        self.asked.append(segment.text)
        return [Finding("test.sense", 0, 1, 0.5, "s")] if "sense" in segment.text else []


class Broken(Plain):
    """A detector that quotes what it choked on."""

    name = "broken"

    def find(self, segment: Segment) -> list[Finding]:
        raise RuntimeError(segment.text)


class Asked(Shapes):
    """Counts how often it was really asked."""

    name = "asked"

    def __init__(self) -> None:
        super().__init__([Pattern("odd", "test.ssn", "odd", 0.9)])
        self.times = 0

    def find(self, segment: Segment) -> list[Finding]:
        self.times += 1
        return super().find(segment)


def test_each_detector_has_its_run_in_the_order_given() -> None:
    runs = Inspector([Shapes(), Plain()]).inspect([text("clean"), WORD], Direction.INPUT)

    assert [(r.detector, r.version, r.direction, r.verdict) for r in runs] == [
        ("shapes", "1", "input", "hit"),
        ("plain", "2", "input", "pass"),
    ]
    assert [(WORD, Finding("test.word", 3, 7, 0.9, "word"))] == list(runs[0].found)
    assert list(runs[1].found) == []
    assert all(run.duration_ns >= 0 for run in runs)


def test_nothing_to_inspect_needs_no_run() -> None:
    assert Inspector([Shapes()]).inspect([], Direction.INPUT) == []


def test_a_detector_none_of_whose_patterns_occurs_passes_unasked() -> None:
    asked, plain = Asked(), Plain()
    runs = Inspector([asked, Shapes(), plain]).inspect([WORD, WORD], Direction.INPUT)

    assert [run.verdict for run in runs] == ["pass", "hit", "pass"]
    assert (asked.times, plain.asked) == (0, ["my word", "my word"])


def test_clean_texts_pass_every_pattern_at_once() -> None:
    asked = Asked()
    runs = Inspector([asked, Shapes()]).inspect([text("clean")], Direction.INPUT)

    assert [run.verdict for run in runs] == ["pass", "pass"]
    assert asked.times == 0


@pytest.mark.parametrize("said", ["é", "世界", "\ud800"])
def test_texts_beyond_ascii_are_always_inspected(said: str) -> None:
    asked = Asked()
    Inspector([asked]).inspect([text(said)], Direction.INPUT)

    assert asked.times == 1


def test_texts_do_not_run_into_each_other() -> None:
    runs = Inspector([Shapes()]).inspect([text("wo"), text("rd")], Direction.INPUT)
    beside = Inspector([Shapes()]).inspect([text("x"), WORD, text("x")], Direction.INPUT)

    assert runs[0].verdict == "pass"
    assert beside[0].verdict == "hit"


def test_a_detector_that_fails_is_told_by_the_type_of_its_error_only() -> None:
    with structlog.testing.capture_logs() as logs:
        runs = Inspector([Broken(), Shapes()]).inspect([WORD], Direction.OUTPUT)

    assert [run.verdict for run in runs] == ["error", "hit"]
    assert list(runs[0].found) == []
    assert "my word" not in repr(logs)
    assert [(log["event"], log["detector"], log["error"]) for log in logs] == [
        ("detector.failed", "broken", "RuntimeError")
    ]


def test_the_size_of_texts_is_counted_in_characters() -> None:
    assert size([text("ab"), text("世界!")]) == 5
    assert size([]) == 0
