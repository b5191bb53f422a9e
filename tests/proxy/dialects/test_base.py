import pytest

from tidegate.detectors import Source
from tidegate.proxy.dialects.base import Channel, StreamEvent, Usage


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("content", Source.ASSISTANT),
        ("text", Source.ASSISTANT),
        ("refusal", Source.ASSISTANT),
        ("reasoning", Source.REASONING),
        ("reasoning_content", Source.REASONING),
        ("tool", Source.TOOL_CALL),
        ("function", Source.TOOL_CALL),
    ],
)
def test_a_channels_name_says_what_its_text_is(name: str, source: Source) -> None:
    assert source is Channel(0, name).source


def test_counts_an_engine_does_not_give_are_negative() -> None:
    assert Usage(-1, -1) == Usage()


def test_an_event_says_nothing_but_what_is_given() -> None:
    assert StreamEvent() == StreamEvent((), (), None, usage_only=False, error=None, last=False)
