"""Histograms and counters on plain arrays, for prometheus_client's registry.

prometheus_client's own instruments cost 0.7 us an observation with a lock each; a streamed answer
brings one observation a token.  These cost a bisect and two additions.  They are not locked: the
owner (Metrics) holds one lock while it observes and while it renders.

Invariant: an instrument never holds more than SERIES_MAX label sets; what comes later is counted
under "_OTHER" in every label, so that nothing a caller sends can grow the process or the scrape.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from .names import OTHER, Metric

SERIES_MAX: Final = 1000


class Slots:
    """One label set of a histogram."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total: float = 0

    def observe(self, value: float) -> None:
        """Count one value; a bound belongs to its bucket ("le")."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def observe_sorted(self, values: Sequence[int]) -> None:
        """Count many ascending values, at the cost of one search a bucket that they reach."""
        if not values:
            return
        bounds, counts = self.bounds, self.counts
        bucket, last = bisect_left(bounds, values[0]), bisect_left(bounds, values[-1])
        done = 0
        while bucket < last:
            reached = bisect_right(values, bounds[bucket], done)
            counts[bucket] += reached - done
            done = reached
            bucket += 1
        counts[last] += len(values) - done
        self.total += sum(values)


class Cell:
    """One label set of a counter."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class Histogram(Collector):
    """A histogram whose values are integers of a smaller unit than the exposed one."""

    def __init__(self, metric: Metric, registry: CollectorRegistry, scale: float = 1) -> None:
        """Take `scale` as exposed units per observed unit: 1e-9 for nanoseconds."""
        self._metric = metric
        self._scale = scale
        self._bounds = tuple(bound / scale for bound in metric.bounds)
        if scale != 1:
            self._bounds = tuple(round(bound) for bound in self._bounds)
        self._les = [*map(floatToGoString, metric.bounds), "+Inf"]
        self._series: dict[tuple[str, ...], Slots] = {}
        registry.register(self)

    def labels(self, *values: str) -> Slots:
        """Return the slots of this label set; keep them, the look-up costs more than observing."""
        key = _bounded(self._series, values)
        return self._series.setdefault(key, Slots(self._bounds))

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Return the family as prometheus_client renders it."""
        metric = self._metric
        family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
        for labels, slots in self._series.items():
            seen = 0
            buckets: list[tuple[str, float]] = []
            for le, count in zip(self._les, slots.counts, strict=True):
                seen += count
                buckets.append((le, seen))
            family.add_metric(labels, buckets, slots.total * self._scale)
        return [family]

    def describe(self) -> Iterable[HistogramMetricFamily]:
        """Name the family for the registry's check on duplicates."""
        return [HistogramMetricFamily(self._metric.name, self._metric.help)]


class Counter(Collector):
    """A counter with labels."""

    def __init__(self, metric: Metric, registry: CollectorRegistry) -> None:
        self._metric = metric
        self._series: dict[tuple[str, ...], Cell] = {}
        registry.register(self)

    def labels(self, *values: str) -> Cell:
        """Return the cell of this label set; add to its value."""
        key = _bounded(self._series, values)
        return self._series.setdefault(key, Cell())

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Return the family as prometheus_client renders it."""
        metric = self._metric
        family = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
        for labels, cell in self._series.items():
            family.add_metric(labels, cell.value)
        return [family]

    def describe(self) -> Iterable[CounterMetricFamily]:
        """Name the family for the registry's check on duplicates."""
        return [CounterMetricFamily(self._metric.name, self._metric.help)]


def _bounded(series: Mapping[tuple[str, ...], object], key: tuple[str, ...]) -> tuple[str, ...]:
    if key in series or len(series) < SERIES_MAX:
        return key
    return (OTHER,) * len(key)
