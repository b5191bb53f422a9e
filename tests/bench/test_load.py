import pytest
from tests.bench.load import Pattern, flat


def test_figures_have_dotted_names_and_absent_ones_are_left_out() -> None:
    report = {"sent": 3, "latency_us": {"p50": 1.5}, "relay_us": None}

    assert flat(report) == {"sent": 3.0, "latency_us.p50": 1.5}


@pytest.mark.parametrize("stream", [False, True])
def test_only_a_stream_is_asked_for_as_one(*, stream: bool) -> None:
    arguments = Pattern(stream=stream).arguments(8080)

    assert stream == ("-s" in arguments)
    assert arguments[1:3] == ["-p", "8080"]
