from typing import Any

import pytest

from tidegate.detectors import Source
from tidegate.proxy.dialects.base import MOST_TOKENS, Channel, StreamEvent, Usage, usage_of


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
        ("tool_name", Source.TOOL_CALL),
        ("custom", Source.TOOL_CALL),
        ("custom_name", Source.TOOL_CALL),
        ("function_name", Source.TOOL_CALL),
        ("audio", Source.ASSISTANT),
    ],
)
def test_a_channels_name_says_what_its_text_is(name: str, source: Source) -> None:
    assert source is Channel(0, name).source


def test_counts_an_engine_does_not_give_are_negative() -> None:
    assert Usage(-1, -1) == Usage()


def test_an_event_says_nothing_but_what_is_given() -> None:
    assert StreamEvent() == StreamEvent((), (), None, usage_only=False, error=None, last=False)


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        (None, None),
        ([], None),
        ({}, None),
        ({"prompt_tokens": None, "completion_tokens": "3"}, None),
        ({"prompt_tokens": None, "completion_tokens": 3}, Usage(-1, 3)),
        ({"prompt_tokens": True, "completion_tokens": 0}, Usage(-1, 0)),
        ({"prompt_tokens": 2.0, "completion_tokens": MOST_TOKENS}, None),
        ({"prompt_tokens": MOST_TOKENS - 1}, Usage(MOST_TOKENS - 1, -1)),
    ],
)
def test_only_whole_numbers_are_token_counts(value: Any, usage: Usage | None) -> None:
    assert usage_of(value) == usage
