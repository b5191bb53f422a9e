import msgspec
import pytest

from tidegate.detectors import Segment, Source, Trust


def test_trust_orders_speakers_from_strangers_to_the_operator() -> None:
    expected = [Trust.THIRD_PARTY, Trust.MODEL, Trust.CALLER, Trust.OPERATOR]

    assert expected == sorted(Trust)


def test_all_of_a_segment_may_hold_findings_unless_a_start_is_given() -> None:
    segment = Segment("text", ("prompt",), Source.USER, Trust.CALLER)

    assert segment.start == 0
    assert segment != Segment("text", ("prompt",), Source.USER, Trust.CALLER, 2)


def test_a_segment_does_not_change() -> None:
    segment = Segment("text", ("prompt",), Source.USER, Trust.CALLER)

    with pytest.raises(AttributeError):
        segment.text = "other"  # type: ignore[misc]  # that is the point


def test_sources_are_written_as_their_names() -> None:
    assert msgspec.json.encode(Source.TOOL_RESULT) == b'"tool_result"'
