import asyncio
import threading
import time

import pytest
import structlog
from tests.gates import PATIENCE
from tests.proxy.exchanges import Shapes, text

from tidegate.detectors import Finding, Pattern, Segment
from tidegate.detectors.windows import AFTER, OWN
from tidegate.policies import Action, Direction
from tidegate.proxy.duty import NEVER, Duty, Terms
from tidegate.proxy.inspect import LARGE, THREADS, Budget, Inspector, size

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


def test_what_is_not_read_within_the_budget_is_a_timeout_with_what_was_found() -> None:
    budget = Budget(60.0)

    class Last(Plain):
        name = "last"

        def find(self, segment: Segment) -> list[Finding]:
            budget.give_up()
            return super().find(segment)

    last, late = Last(), Plain()
    inspector = Inspector([Shapes(), last, late])
    with structlog.testing.capture_logs() as logs:
        runs = inspector.inspect([text("sense word"), WORD], Direction.INPUT, budget)

    assert [run.verdict for run in runs] == ["hit", "timeout", "timeout"]
    assert [len(run.found) for run in runs] == [2, 1, 0]
    assert (last.asked, late.asked) == (["sense word"], [])
    assert [log["detector"] for log in logs if log["event"] == "detector.timeout"] == [
        "last",
        "plain",
    ]


def test_a_long_text_is_given_up_between_its_windows() -> None:
    budget = Budget(60.0)

    class Slow(Plain):
        def find(self, segment: Segment) -> list[Finding]:
            budget.give_up()
            return super().find(segment)

    slow = Slow()
    [run] = Inspector([slow]).inspect([text("x" * 3 * OWN)], Direction.INPUT, budget)

    assert run.verdict == "timeout"
    assert [len(asked) for asked in slow.asked] == [OWN + AFTER]


def test_findings_of_a_long_text_have_their_places_in_the_whole() -> None:
    segment = text("é" + "x " * OWN + "word ")
    [run] = Inspector([Shapes()]).inspect([segment], Direction.INPUT)

    assert list(run.found) == [
        (segment, Finding("test.word", 2 * OWN + 1, 2 * OWN + 5, 0.9, "word"))
    ]


def test_a_budget_is_spent_by_time_or_at_once() -> None:
    fresh, none, given_up = Budget(60.0), Budget(0.0), Budget(60.0)
    waiting = Budget(0.0).spent()
    for budget in (fresh, none):
        budget.begin()
    given_up.give_up()
    given_up.begin()

    spent = [budget.spent() for budget in (fresh, none, given_up)]

    assert (waiting, *spent) == (False, False, True, True)
    assert (fresh.spent(time.monotonic_ns()), none.spent(NEVER)) == (True, True)


def test_each_detector_has_its_own_time_and_its_own_consequence() -> None:
    asked = {"plain": Duty(input=Terms(0, Action.FLAG))}
    plain = Plain()
    runs = Inspector([plain, Shapes()], duties=asked).inspect([WORD], Direction.INPUT)

    assert [(run.verdict, run.on_error) for run in runs] == [
        ("timeout", Action.FLAG),
        ("hit", None),
    ]
    assert plain.asked == []


async def test_long_texts_are_inspected_in_threads_of_which_there_are_few() -> None:
    class Where(Plain):
        def find(self, segment: Segment) -> list[Finding]:
            self.asked.append(threading.current_thread().name)
            return []

    where = Where()
    inspector = Inspector([where])
    await inspector.look([text("x" * LARGE)], Direction.INPUT)
    long = [text("x" * (LARGE + 1))]
    await asyncio.gather(*(inspector.look(long, Direction.INPUT) for _ in range(20)))
    inspector.close()

    assert where.asked[0] == threading.main_thread().name
    assert 1 <= len(set(where.asked[1:])) <= THREADS
    assert all(name.startswith("inspect") for name in where.asked[1:])


async def test_an_inspection_nobody_waits_for_ends() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Held(Plain):
        def find(self, segment: Segment) -> list[Finding]:
            begun.set()
            go_on.wait(PATIENCE)
            return super().find(segment)

    held = Held()
    inspector = Inspector([held])
    task = asyncio.ensure_future(inspector.look([text("x" * LARGE), WORD], Direction.INPUT))
    await asyncio.to_thread(begun.wait, PATIENCE)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    go_on.set()
    inspector._threads.shutdown()

    assert task.cancelled()
    assert len(held.asked) == 1


def test_a_gate_that_cannot_read_leaves_it_to_each_detector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def blind(_: bytes) -> list[int]:
        raise RuntimeError

    inspector = Inspector([Shapes()])
    monkeypatch.setattr(inspector.first, "sees", blind)

    assert [run.verdict for run in inspector.inspect([WORD], Direction.INPUT)] == ["hit"]


def test_the_size_of_texts_is_counted_in_characters() -> None:
    assert size([text("ab"), text("世界!")]) == 5
    assert size([]) == 0
