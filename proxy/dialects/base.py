"""What a dialect must be able to do; one module of this folder implements it for one language."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from ...detectors import Segment, Source
from ..errors import ProxyError

NAMES = -1
"""The last step of a place that is no value but the names of the members below it.  They are read
and judged; they cannot be edited, so what would redact one refuses the request."""

Where = tuple[str | int, ...]
"""The path of a text in a body, e.g. ("messages", 0, "content")."""

MOST_TOKENS = 2**53
"""A count beyond this is no count."""


def dotted(where: Where) -> str:
    """A path as clients know it, e.g. "messages[0].content"; of NAMES, the member they are in."""
    if where[-1:] == (NAMES,):
        where = where[:-1]
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in where).lstrip(".")


class Uninspected(NamedTuple):
    """A part of a body that no detector can read: where, what it is, and how large."""

    where: Where
    type: str
    size: int
    """Bytes of a media value, or number of token ids."""


_CALLING = frozenset({"tool", "tool_name", "custom", "custom_name", "function", "function_name"})


class Channel(NamedTuple):
    """One text of one answer that grows by deltas."""

    choice: int
    name: str
    """"content", "reasoning", "refusal", "text", "audio"; "tool", "custom" and "function" for what
    a call hands over; "tool_name", "custom_name" and "function_name" for what it calls."""
    part: int = 0
    """Which tool call."""

    @property
    def source(self) -> Source:
        """What the text is, for policies."""
        if self.name in _CALLING:
            return Source.TOOL_CALL
        return Source.REASONING if self.name.startswith("reasoning") else Source.ASSISTANT


class Usage(msgspec.Struct):
    """Token counts as an engine reports them; -1 where it does not."""

    prompt_tokens: int = -1
    completion_tokens: int = -1


def usage_of(value: Any) -> Usage | None:
    """An engine's usage member; None where it tells nothing, for it must not fail an answer."""
    if not isinstance(value, dict):
        return None
    usage = Usage(_tokens(value.get("prompt_tokens")), _tokens(value.get("completion_tokens")))
    return None if usage.prompt_tokens < 0 and usage.completion_tokens < 0 else usage


def _tokens(value: Any) -> int:
    return value if type(value) is int and 0 <= value < MOST_TOKENS else -1


class StreamEvent(msgspec.Struct, frozen=True):
    """One event of a stream, read.  A Struct because one is made for each token."""

    parts: Sequence[tuple[Channel, str]] = ()
    finished: Sequence[tuple[int, str]] = ()
    """(choice, finish reason) of the choices that end here."""
    usage: Usage | None = None
    usage_only: bool = False
    """The event carries usage and no choice."""
    error: str | None = None
    """The engine reports a failure inside a 200; a short public description."""
    last: bool = False
    """The dialect's end marker."""
    empty: bool = False
    """It says nothing, and is not passed on."""


class Repeats(NamedTuple):
    """Whole events in a row that carry one text each, all of one channel, and nothing else."""

    channel: Channel
    text: str
    """Of all of them together."""
    events: int
    raw: bytes
    """As they came."""


class EventReading(Protocol):
    """A reader of the events of one stream, which may remember what it has seen of it."""

    def read(self, data: bytes) -> StreamEvent:
        """Read one event's data.  Raises EngineFailed if it is not of this dialect."""

    def alone(self, raw: bytes) -> Repeats | None:
        """One whole event that is known without reading it, if that is all there is."""

    def split(self, raw: bytes) -> tuple[bytes, Repeats | None, bytes]:
        """Part bytes that begin with an event in three, which follow each other.

        First what is to be read event by event; then what is known without reading it, if there
        is such; then what may be split again.  What is not last ends with an event.
        """


class Reading(msgspec.Struct, frozen=True):
    """What a request body says, as far as the proxy must know."""

    model: str
    stream: bool
    wants_usage: bool
    choices: int
    max_tokens: int
    segments: Sequence[Segment]
    uninspected: Sequence[Uninspected]
    count: int = 1
    """How many messages, or inputs, the request has."""


class Answer(NamedTuple):
    """A complete answer, read: its texts, usage and endings."""

    segments: Sequence[Segment]
    usage: Usage | None
    finish_reasons: Sequence[str]
    model: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method and path; `read` gives the meaning of a body (None: it has no body)."""

    name: str
    method: str
    path: str
    """The engine's path, and the route template for telemetry."""
    operation: str
    """gen_ai.operation.name."""
    read: Callable[[Any], Reading] | None = None


class Dialect(Protocol):
    """One wire language."""

    name: str

    def endpoint(self, method: str, path: str) -> Endpoint:
        """The endpoint for a normalised path.  Raises BadRequest (404, 405) for any other."""

    def for_engine(self, body: dict[str, Any], reading: Reading, model: str) -> bool:
        """Change what the engine must be asked differently; whether anything was changed."""

    def answer(self, body: bytes, endpoint: Endpoint) -> Answer:
        """Read a complete answer of an endpoint.  Raises EngineFailed if it is not of its form."""

    def edit_answer(self, body: bytes, texts: Mapping[Where, str], *, blocked: bool) -> bytes:
        """The answer with the texts at these places replaced."""

    def event_reader(self) -> EventReading:
        """A reader for one stream."""

    def model_of(self, data: bytes) -> str:
        """The model an event names, "" if it names none."""

    def edit_event(self, data: bytes, texts: Mapping[Channel, str]) -> bytes:
        """The event, framed for the wire, with the texts of these channels replaced."""

    def without_usage(self, raw: bytes) -> bytes:
        """The framed event without the usage member the client did not ask for."""

    def renamed(self, raw: bytes, names: tuple[str, str]) -> bytes:
        """The bytes with the engine's own model name, the first, given as the second."""

    def block_events(self, sample: bytes, choices: Iterable[int], usage: Usage | None) -> bytes:
        """The framed end of a stream that a policy stops; `sample` is the data of any event."""

    def error_event(self, error: ProxyError) -> bytes:
        """The framed event that tells of a failure in the middle of a stream."""

    def error_body(self, error: ProxyError, details: Mapping[str, Any]) -> bytes:
        """The body of an error reply; `details` go beside the standard members."""

    def models(self, names: Sequence[str], created: int) -> bytes:
        """The body of a model list."""

    def model(self, name: str, created: int) -> bytes:
        """The body for one model of the list."""

    def error_message(self, body: bytes) -> str:
        """What an engine's error body says is wrong, cut to a bounded length."""
