import threading
import time
from collections import Counter
from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs
from tests.receivers import PATIENCE

from tidegate.telemetry.sender import Limits, Sender


class Scripted:
    """An exporter whose every answer is scripted: True, False, an exception or a gate."""

    def __init__(self, *answers: bool | Exception | threading.Event) -> None:
        self.answers = list(answers)
        self.sent: list[tuple[bytes, int]] = []
        self.entered = threading.Event()
        self.ended = threading.Event()

    def send(self, payload: bytes, requests: int) -> bool:
        self.sent.append((payload, requests))
        answer = self.answers.pop(0) if self.answers else True
        self.entered.set()
        match answer:
            case Exception():
                raise answer
            case threading.Event():
                answer.wait(PATIENCE)
                return False
            case _:
                return answer

    def shutdown(self) -> None:
        self.ended.set()


def wrap(parts: Sequence[bytes]) -> bytes:
    return b"".join(parts)


class Case:
    def __init__(self, exporter: Scripted, limits: Limits) -> None:
        self.lost: Counter[str] = Counter()
        self.sender = Sender(exporter, wrap, limits, self._drop)

    def _drop(self, reason: str, amount: int) -> None:
        self.lost[reason] += amount


SOON = Limits(max_queue=4, max_batch=2, interval=0.005)
LATE = Limits(max_queue=4, max_batch=2, interval=60)


def test_a_full_batch_is_sent_at_once() -> None:
    exporter = Scripted()
    case = Case(exporter, LATE)
    for part in (b"a", b"b"):
        case.sender.offer(part)
    assert exporter.entered.wait(PATIENCE)
    case.sender.close(PATIENCE)

    assert exporter.sent == [(b"ab", 2)]
    assert case.lost == Counter()
    assert exporter.ended.is_set()


def test_a_batch_ends_before_it_is_too_large_for_a_collector() -> None:
    exporter = Scripted()
    case = Case(exporter, Limits(max_queue=9, max_batch=9, interval=60))
    part = b"x" * (1 << 20)
    for _ in range(5):
        case.sender.offer(part)
    case.sender.close(PATIENCE)

    assert [requests for _, requests in exporter.sent] == [2, 2, 1]
    assert case.lost == Counter()


def test_a_batch_that_is_not_full_is_sent_after_the_interval() -> None:
    exporter = Scripted()
    case = Case(exporter, SOON)
    case.sender.offer(b"a")
    assert exporter.entered.wait(PATIENCE)
    case.sender.close(PATIENCE)

    assert exporter.sent == [(b"a", 1)]


def test_closing_sends_what_waits() -> None:
    exporter = Scripted()
    case = Case(exporter, LATE)
    case.sender.offer(b"a")
    case.sender.close(PATIENCE)

    assert exporter.sent == [(b"a", 1)]


def test_what_finds_no_room_is_counted() -> None:
    gate = threading.Event()
    exporter = Scripted(gate)
    case = Case(exporter, LATE)
    for part in (b"a", b"b"):
        case.sender.offer(part)
    assert exporter.entered.wait(PATIENCE)
    for part in (b"c", b"d", b"e", b"f", b"g", b"h"):
        case.sender.offer(part)

    assert case.sender.full
    assert case.lost == {"export_queue_full": 2}
    gate.set()
    case.sender.close(PATIENCE)
    assert exporter.sent[1:] == [(b"cd", 2), (b"ef", 2)]


def test_a_refused_and_a_raising_batch_are_counted_and_said_once() -> None:
    exporter = Scripted(False, RuntimeError("boom"), False, True)
    with capture_logs() as logs:
        case = Case(exporter, Limits(max_queue=9, max_batch=1, interval=60))
        for part in (b"a", b"b", b"c", b"d"):
            case.sender.offer(part)
        case.sender.close(PATIENCE)

    assert case.lost == {"export_failed": 3}
    assert [line["event"] for line in logs] == [
        "telemetry.export_failing",
        "telemetry.export_raised",
        "telemetry.export_recovered",
    ]


@pytest.mark.parametrize("timeout", [0.0, 0.05])
def test_closing_leaves_a_hanging_collector_behind(timeout: float) -> None:
    gate = threading.Event()
    exporter = Scripted(gate)
    case = Case(exporter, LATE)
    for part in (b"a", b"b", b"c"):
        case.sender.offer(part)
    assert exporter.entered.wait(PATIENCE)
    case.sender.offer(b"d")
    before = time.monotonic()
    case.sender.close(timeout)

    assert time.monotonic() - before < PATIENCE / 2
    assert case.lost == {"shutdown": 4}
    assert exporter.ended.is_set()
    gate.set()
    case.sender._thread.join(PATIENCE)
    assert case.lost == {"shutdown": 4}
