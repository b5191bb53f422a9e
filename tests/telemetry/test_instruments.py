import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client import Histogram as TheirHistogram

from tidegate.telemetry.instruments import SERIES_MAX, Counter, Histogram
from tidegate.telemetry.names import Metric

SECONDS = Metric("x_seconds", "histogram", "Help.", ("route",), (0.1, 0.5, 2.5))
COUNT = Metric("y", "counter", "Help.", ("route", "outcome"))


@given(st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 2.5, 2.6, 1e6])))
def test_buckets_are_those_of_prometheus_clients_own(values: list[float]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    histogram = Histogram(SECONDS, ours, 1e-9)
    reference = TheirHistogram(
        "x_seconds", "Help.", ["route"], buckets=SECONDS.bounds, registry=theirs
    )
    for value in values:
        reference.labels("r").observe(value)
        histogram.labels("r").observe(round(value * 1e9))

    for le in ("0.1", "0.5", "2.5", "+Inf"):
        sample = ("x_seconds_bucket", {"route": "r", "le": le})
        assert (theirs.get_sample_value(*sample) or 0) == (ours.get_sample_value(*sample) or 0)
    for name in ("x_seconds_count", "x_seconds_sum"):
        expected = theirs.get_sample_value(name, {"route": "r"}) or 0
        assert expected == pytest.approx(ours.get_sample_value(name, {"route": "r"}) or 0)


@given(st.lists(st.integers(0, 3_000_000_000)))
def test_ascending_values_at_once_count_like_one_by_one(values: list[int]) -> None:
    at_once, singly = (Histogram(SECONDS, CollectorRegistry(), 1e-9).labels("r") for _ in "ab")

    at_once.observe_sorted(sorted(values))
    for value in values:
        singly.observe(value)

    assert (at_once.counts, at_once.total) == (singly.counts, singly.total)


def test_a_bound_belongs_to_its_bucket_however_often_it_comes() -> None:
    slots = Histogram(SECONDS, CollectorRegistry(), 1e-9).labels("r")

    slots.observe_sorted([100_000_000, 100_000_000, 100_000_001, 500_000_000, 2_600_000_000])

    assert slots.counts == [2, 2, 0, 1]


def test_a_label_set_keeps_its_slots() -> None:
    histogram = Histogram(SECONDS, CollectorRegistry())

    assert histogram.labels("r") is histogram.labels("r")


def test_a_counter_adds_up() -> None:
    registry = CollectorRegistry()
    counter = Counter(COUNT, registry)

    counter.labels("a", "ok").value += 1
    counter.labels("a", "ok").value += 4

    assert registry.get_sample_value("y_total", {"route": "a", "outcome": "ok"}) == 5


def test_label_sets_are_bounded() -> None:
    registry = CollectorRegistry()
    counter, histogram = Counter(COUNT, registry), Histogram(SECONDS, registry)

    for n in range(SERIES_MAX + 10):
        counter.labels(str(n), "ok").value += 1
        histogram.labels(str(n)).observe(1)

    other = {"route": "_OTHER", "outcome": "_OTHER"}
    assert registry.get_sample_value("y_total", other) == 10
    assert registry.get_sample_value("x_seconds_count", {"route": "_OTHER"}) == 10
    assert (
        registry.get_sample_value("y_total", {"route": str(SERIES_MAX), "outcome": "ok"}) is None
    )


def test_a_second_instrument_of_the_same_name_is_refused() -> None:
    registry = CollectorRegistry()
    Counter(COUNT, registry)
    Histogram(SECONDS, registry)

    with pytest.raises(ValueError, match="Duplicated"):
        Counter(COUNT, registry)
    with pytest.raises(ValueError, match="Duplicated"):
        Histogram(SECONDS, registry)
