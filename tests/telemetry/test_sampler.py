import random

import pytest
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased

from tidegate.telemetry import Sampler
from tidegate.telemetry.sampler import named


def test_a_followed_caller_decides() -> None:
    sampler = Sampler(ratio=0.0)

    assert sampler.keeps("ab" * 16, parent_sampled=True)
    assert not Sampler(ratio=1.0).keeps("ab" * 16, parent_sampled=False)


def test_a_caller_that_is_not_followed_does_not_decide() -> None:
    assert not Sampler(ratio=0.0, follow_parent=False).keeps("ab" * 16, parent_sampled=True)


def test_the_ratio_decides_as_the_sdk_does() -> None:
    ours, theirs = Sampler(ratio=0.3), TraceIdRatioBased(0.3)
    bits = random.Random(1).getrandbits

    for trace_id in [bits(128) or 1 for _ in range(500)]:
        expected = theirs.should_sample(None, trace_id, "x").decision is Decision.RECORD_AND_SAMPLE
        assert expected == ours.keeps(f"{trace_id:032x}", None)


def test_a_ratio_of_one_keeps_every_trace() -> None:
    assert Sampler(ratio=1.0).keeps("f" * 32, None)


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("always_on", "", Sampler(1.0, follow_parent=False)),
        ("always_off", "", Sampler(0.0, follow_parent=False)),
        ("traceidratio", "0.25", Sampler(0.25, follow_parent=False)),
        ("parentbased_always_on", "", Sampler(1.0)),
        ("parentbased_always_off", "", Sampler(0.0)),
        (" ParentBased_TraceIdRatio ", "0", Sampler(0.0)),
        ("parentbased_traceidratio", "", Sampler(1.0)),
    ],
)
def test_the_specifications_names_are_known(name: str, argument: str, expected: Sampler) -> None:
    assert expected == named(name, argument)


@pytest.mark.parametrize(
    ("name", "argument"),
    [("xray", ""), ("traceidratio", "2"), ("traceidratio", "much"), ("traceidratio", "nan")],
)
def test_what_makes_no_sense_is_refused(name: str, argument: str) -> None:
    with pytest.raises(ValueError, match="OTEL_TRACES_SAMPLER"):
        named(name, argument)
