"""A piece of text with its provenance.

Where a text comes from decides what it may say: an instruction is normal from the operator
and an attack in a tool result.  So provenance is part of the type and travels with the text.
"""

from enum import IntEnum, StrEnum

import msgspec


class Trust(IntEnum):
    """Who speaks; a larger number may give more orders.  An unknown role is THIRD_PARTY."""

    THIRD_PARTY = 0
    """Tool results, retrieved documents, tool descriptions, file text."""
    MODEL = 1
    """What a model wrote: the answer, or an assistant turn that the caller sends back."""
    CALLER = 2
    """The person or program that calls."""
    OPERATOR = 3
    """The system or developer prompt."""


class Source(StrEnum):
    """The kind of place in a conversation that a text stands in."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TOOL_DEFINITION = "tool_definition"
    DOCUMENT = "document"


class Segment(msgspec.Struct, frozen=True):
    """One text in a body: `where` is its path in the JSON tree, e.g. ("messages", 0, "content").

    `start` is the first character a detector may begin a finding at; what stands before it is
    context only (a stream's already released text).
    """

    text: str
    where: tuple[str | int, ...]
    source: Source
    trust: Trust
    start: int = 0
