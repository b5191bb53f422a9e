"""Members that hold text, alike in the message of a complete answer and in a delta of a stream.

OpenAI API, `ChatCompletionMessage` and `ChatCompletionChunk.Choice.Delta`, with the `reasoning`
members that engines add.
"""

import msgspec


class Function(msgspec.Struct, gc=False):
    """A function that is called, and its arguments as JSON."""

    arguments: str | None = None
    name: str | None = None


class Custom(msgspec.Struct, gc=False):
    """A custom tool that is called, and its input as free text."""

    input: str | None = None
    name: str | None = None


class Audio(msgspec.Struct, gc=False):
    """Speech: what it says."""

    transcript: str | None = None


class Call(msgspec.Struct, gc=False):
    """A call of a tool."""

    function: Function | None = None
    custom: Custom | None = None


class Texts(msgspec.Struct, gc=False):
    """What is said in one message or delta, but for its calls of tools."""

    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    function_call: Function | None = None
    audio: Audio | None = None
