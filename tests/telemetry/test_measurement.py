import pytest
from msgspec import NODEFAULT
from msgspec.structs import fields, replace
from tests.telemetry.samples import measurement

from tidegate.telemetry import Attempt, Measurement, Stage


@pytest.fixture
def bare() -> Measurement:
    """A measurement of a request about which nothing optional is known."""
    required = {
        field.name: getattr(measurement(), field.name)
        for field in fields(Measurement)
        if field.default is NODEFAULT and field.default_factory is NODEFAULT
    }
    return Measurement(**required)


def test_absent_numbers_are_minus_one_and_absent_texts_empty(bare: Measurement) -> None:
    assert {
        *(bare.input_tokens, bare.output_tokens, bare.cached_tokens, bare.reasoning_tokens)
    } == {-1}
    assert {bare.client_address, bare.user_agent, bare.link} == {""}
    assert bare.scheme == "http"


def test_measurements_share_no_lists(bare: Measurement) -> None:
    other = replace(bare, attempts=[], gaps_ns=[])
    other.attempts.append(Attempt("1" * 16, "e", "vllm", "h", 1, 1, 2))
    other.gaps_ns.append(5)

    assert (bare.attempts, bare.gaps_ns) == ([], [])


def test_nothing_can_be_added_under_a_wrong_name(bare: Measurement) -> None:
    with pytest.raises(AttributeError):
        bare.prompt = "text"  # type: ignore[attr-defined]  # that is the point
    assert Stage("a", 1, 2).attributes is not Stage("a", 1, 2).attributes
