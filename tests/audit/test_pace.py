import os
import threading

import pytest

from tidegate.audit.pace import BURST, Pace, step_back


def test_a_few_syncs_are_granted_at_once_then_one_each_floor() -> None:
    pace, rests, now = Pace(0.004), [], 100.0
    for _ in range(BURST + 3):
        rests.append(pace.rest_s(now))
        now += rests[-1]
        pace.spend(now)

    assert rests[:BURST] == pytest.approx([0.0] * BURST, abs=1e-9)
    assert rests[BURST:] == pytest.approx([0.004] * 3, abs=1e-9)


def test_a_rest_is_saved_up() -> None:
    pace = Pace(0.004)
    for _ in range(BURST):
        pace.spend(100.0)
    busy = pace.rest_s(100.0)
    rested = [pace.rest_s(100.004), pace.rest_s(101.0)]

    assert busy == pytest.approx(0.004)
    assert rested == pytest.approx([0.0, 0.0], abs=1e-9)


def test_savings_are_bounded() -> None:
    pace = Pace(0.004)
    pace.spend(0.0)
    for _ in range(BURST):
        pace.spend(1000.0)

    assert pace.rest_s(1000.0) == pytest.approx(0.004)


def test_without_a_floor_everything_is_granted() -> None:
    pace = Pace(0)
    for _ in range(100):
        pace.spend(1.0)

    assert pace.rest_s(1.0) == 0.0


def test_no_rest_is_longer_than_the_floor() -> None:
    pace = Pace(0.004)
    for _ in range(100):
        pace.spend(1.0)

    assert pace.rest_s(1.0) == 0.004


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux has it")
def test_a_thread_that_steps_back_leaves_the_others_as_they_are() -> None:
    seen: list[int] = []

    def work() -> None:
        step_back()
        seen.append(os.sched_getscheduler(0))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [os.SCHED_BATCH]
    assert os.sched_getscheduler(0) != os.SCHED_BATCH


def test_a_system_that_forbids_it_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def forbidden(*given: object) -> None:
        asked.append(given)
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", forbidden, raising=False)
    step_back()

    assert len(asked) == hasattr(os, "SCHED_BATCH")
