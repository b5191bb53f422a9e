from typing import Any

import pytest

from tidegate.telemetry import Sampler, TelemetryOptions
from tidegate.telemetry.otlp import Target
from tidegate.telemetry.sender import Limits

URL = "http://collector:4318"


def test_without_an_endpoint_nothing_is_exported() -> None:
    assert TelemetryOptions().target({}) is None
    assert TelemetryOptions().target({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}) is None


@pytest.mark.parametrize(
    "name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
)
def test_an_endpoint_of_the_environment_is_left_to_the_sdk(name: str) -> None:
    assert Target("http/protobuf") == TelemetryOptions().target({name: URL})


@pytest.mark.parametrize("off", [{"OTEL_SDK_DISABLED": "True"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_the_environment_can_switch_export_off(off: dict[str, str]) -> None:
    assert TelemetryOptions(endpoint=URL).target(off) is None


def test_options_win_over_the_environment() -> None:
    options = TelemetryOptions(URL, "http/protobuf", {"k": "v"}, insecure=True, timeout=3)

    expected = Target("http/protobuf", URL, {"k": "v"}, insecure=True, timeout=3)
    assert expected == options.target({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})


@pytest.mark.parametrize(
    "environ",
    [
        {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        },
    ],
)
def test_the_environment_chooses_the_protocol(environ: dict[str, str]) -> None:
    assert Target("grpc", URL) == TelemetryOptions(endpoint=URL).target(environ)


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="http/json"):
        TelemetryOptions(endpoint=URL).target({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"})


def test_the_sampler_is_the_options_or_the_environments() -> None:
    environ = {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5"}

    assert Sampler() == TelemetryOptions().sampler({})
    assert Sampler(0.5, follow_parent=False) == TelemetryOptions().sampler(environ)
    assert Sampler(0.1) == TelemetryOptions(sample_ratio=0.1).sampler(environ)


def test_limits_are_taken_over() -> None:
    options = TelemetryOptions(max_queue=1, max_batch=2, export_interval=3)

    assert Limits(1, 2, 3) == options.limits()


@pytest.mark.parametrize("field", ["max_queue", "max_batch", "export_interval"])
def test_limits_are_positive(field: str) -> None:
    changes: dict[str, Any] = {field: 0}

    with pytest.raises(ValueError, match=field):
        TelemetryOptions(**changes).limits()
