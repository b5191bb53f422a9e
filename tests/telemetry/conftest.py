"""Fixtures of the telemetry tests."""

import pytest
from tests.telemetry.samples import measurement

from tidegate.telemetry.spans import SpanEncoder
from tidegate.telemetry.timings import timings


@pytest.fixture
def payload() -> bytes:
    encoder = SpanEncoder({"service.name": "gate"}, "1")
    m = measurement()
    return encoder.request([encoder.encode(m, timings(m))])
