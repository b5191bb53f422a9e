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


def test_many_values_at_once_count_like_one_by_one() -> None:
    registry = CollectorRegistry()
    slots = Histogram(SECONDS, registry, 1e-9).labels("r")

    slots.observe_all([100_000_000, 200_000_000, 9_000_000_000])

    assert slots.counts == [1, 1, 0, 1]
    assert registry.get_sample_value("x_seconds_sum", {"route": "r"}) == pytest.approx(9.3)


def test_a_label_set_keeps_its_slots() -> None:
    histogram = Histogram(SECONDS, CollectorRegistry())

    assert histogram.labels("r") is histogram.labels("r")


def test_a_counter_adds_up() -> None:
    registry = CollectorRegistry()
    counter = Counter(COUNT, registry)

    counter.add(("a", "ok"))
    counter.add(("a", "ok"), 4)

    assert registry.get_sample_value("y_total", {"route": "a", "outcome": "ok"}) == 5


def test_label_sets_are_bounded() -> None:
    registry = CollectorRegistry()
    counter, histogram = Counter(COUNT, registry), Histogram(SECONDS, registry)

    for n in range(SERIES_MAX + 10):
        counter.add((str(n), "ok"))
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
