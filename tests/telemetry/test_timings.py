import pytest
from tests.telemetry.samples import MS, SECOND, START, attempt, measurement

from tidegate.telemetry.timings import UNKNOWN, answering, percentile, timings


def test_each_figure_of_a_streamed_chat() -> None:
    t = timings(measurement())

    assert t.duration_ns == SECOND
    assert t.caller_ttft_ns == 104 * MS
    assert t.engine_ttft_ns == 100 * MS
    assert t.tpot_ns == 800 * MS / 8
    assert (t.gap_p50_ns, t.gap_p95_ns, t.gap_max_ns) == (100 * MS, 110 * MS, 110 * MS)
    assert t.gaps_ns == [90 * MS, *[100 * MS] * 7, 110 * MS]
    assert t.queue_ns == 1 * MS
    assert t.before_engine_ns == 3 * MS
    assert t.overhead_ns == (1000 - 907) * MS


def test_a_request_without_an_engine_is_all_overhead() -> None:
    t = timings(measurement(attempts=[], gaps_ns=[], stages=[]))

    assert t.overhead_ns == t.duration_ns == SECOND
    assert t.queue_ns == 0
    assert {
        *(t.caller_ttft_ns, t.engine_ttft_ns, t.tpot_ns, t.before_engine_ns),
        *(t.gap_p50_ns, t.gap_p95_ns, t.gap_max_ns),
    } == {UNKNOWN}


def test_only_the_last_try_can_have_answered() -> None:
    lost, won = attempt(status=503), attempt(start_ns=START + 500 * MS)

    assert answering(measurement(attempts=[lost, won])) is won
    assert answering(measurement(attempts=[won, lost])) is None
    assert answering(measurement(attempts=[])) is None


def test_tries_that_overlap_count_once() -> None:
    first = attempt(start_ns=START + 100 * MS, end_ns=START + 500 * MS)
    within = attempt(start_ns=START + 200 * MS, end_ns=START + 300 * MS)
    later = attempt(start_ns=START + 400 * MS, end_ns=START + 900 * MS)

    t = timings(measurement(attempts=[first, later, within]))

    assert t.overhead_ns == 200 * MS


@pytest.mark.parametrize("tokens", [-1, 0, 1])
def test_time_per_token_needs_a_token_after_the_first(tokens: int) -> None:
    assert timings(measurement(output_tokens=tokens)).tpot_ns == UNKNOWN


def test_without_text_there_is_no_first_token() -> None:
    t = timings(measurement(attempts=[attempt(first_token_ns=0, last_token_ns=0)]))

    assert (t.caller_ttft_ns, t.engine_ttft_ns, t.tpot_ns) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_a_last_token_before_the_first_has_no_time_per_token() -> None:
    t = timings(measurement(attempts=[attempt(last_token_ns=START + 103 * MS)]))

    assert (t.engine_ttft_ns, t.tpot_ns) == (100 * MS, UNKNOWN)


def test_a_try_without_a_sending_time_is_timed_from_its_start() -> None:
    assert timings(measurement(attempts=[attempt(sent_ns=0)])).engine_ttft_ns == 101 * MS


def test_a_clock_that_ran_backwards_makes_a_figure_unknown() -> None:
    assert timings(measurement(end_ns=START - 1)).duration_ns == UNKNOWN


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1), (5, 1), (50, 10), (51, 11), (95, 19), (100, 20)]
)
def test_percentiles_are_by_nearest_rank(percent: int, expected: int) -> None:
    assert expected == percentile(list(range(1, 21)), percent)
