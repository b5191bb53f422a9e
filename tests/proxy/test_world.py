import dataclasses

import pytest

from tidegate.proxy.world import Observer, World
from tidegate.telemetry import Measurement


class Last:
    """An observer; mypy compares it with the protocol."""

    def settled(self, measurement: Measurement) -> None:
        self.measurement = measurement


def test_anything_that_takes_a_measurement_observes() -> None:
    observer: Observer = Last()

    assert callable(observer.settled)


def test_a_world_does_not_change() -> None:
    world = object.__new__(World)

    with pytest.raises(dataclasses.FrozenInstanceError):
        world.started = 1  # type: ignore[misc]  # that is the point
