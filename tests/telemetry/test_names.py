from pathlib import Path

import pytest

from tidegate.telemetry.names import ATTRIBUTES, METRICS, SCHEMA_URL, Attribute, Metric

PAGE = (Path(__file__).parents[2] / "docs" / "telemetry.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_attribute_is_documented(name: str) -> None:
    assert f"`{name}" in PAGE


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_and_its_labels_are_documented(metric: Metric) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{metric.exposed}` ")]

    assert all(f"`{label}`" in row for label in metric.labels)
    assert metric.kind in row


def test_the_schema_is_documented() -> None:
    assert SCHEMA_URL in PAGE


def test_names_are_unique() -> None:
    assert len(set(ATTRIBUTES)) == len(ATTRIBUTES)
    assert len({m.name for m in METRICS}) == len(METRICS)
    assert Attribute.METHOD in ATTRIBUTES


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_bounds_ascend_and_only_histograms_have_them(metric: Metric) -> None:
    assert bool(metric.bounds) == (metric.kind == "histogram")
    assert list(metric.bounds) == sorted(set(metric.bounds))


def test_a_counter_is_exposed_with_its_suffix() -> None:
    assert Metric("a", "counter", "A.").exposed == "a_total"
    assert Metric("a", "gauge", "A.").exposed == "a"
