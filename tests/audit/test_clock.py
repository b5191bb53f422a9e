import time

from tidegate.audit.clock import SystemClock


def test_the_wall_clock_counts_microseconds_since_1970() -> None:
    before, now, after = time.time(), SystemClock().wall_us(), time.time()

    assert before - 1 <= now / 1_000_000 <= after + 1


def test_the_monotonic_clock_never_runs_backwards() -> None:
    clock = SystemClock()
    readings = [clock.monotonic() for _ in range(100)]

    assert sorted(readings) == readings
