"""W3C Trace Context: what callers send is read, what engines get is written.

Source: W3C Recommendation "Trace Context" (level 1), sections 3.2 (traceparent), 3.3 (tracestate)
and 4 (processing model); of level 2 only that the random flag is preserved.  What callers send is
untrusted: anything invalid starts a new trace and is never echoed.
"""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from .sampler import Sampler

SAMPLED: Final = 0x01

_TRACEPARENT: Final = re.compile(
    r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII | re.DOTALL
)
_NO_TRACE: Final = "0" * 32
_NO_SPAN: Final = "0" * 16

# key and value of section 3.3.1.3; "," and "=" are outside of a value's characters.
_KEY: Final = r"(?:[a-z][\w\-*/]{0,255}|[a-z0-9][\w\-*/]{0,240}@[a-z][\w\-*/]{0,13})"
_VALUE: Final = r"[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
_MEMBER: Final = re.compile((_KEY + "=" + _VALUE).replace(r"\w", "a-z0-9_"))
_MEMBERS_MAX: Final = 32
_STATE_MAX: Final = 512
"""Section 3.3.1.5 asks to pass on at least this many characters."""
_LARGE_MEMBER: Final = 128
_STATE_READ_MAX: Final = 32 * 514
"""32 members of the longest key and value; beyond it the header is not even split."""


class Ids:
    """Makes trace and span ids; one per process, made after the fork (ids would repeat)."""

    def __init__(self, source: random.Random | None = None) -> None:
        # Ids must be unlikely to meet, not secret; Random() is seeded from os.urandom.
        self._bits = (source or random.Random()).getrandbits  # noqa: S311 - no secret

    def trace_id(self) -> str:
        """32 hex digits, never all zero."""
        return f"{self._bits(128) or 1:032x}"

    def uuid(self) -> str:
        """A version 4 UUID (RFC 9562 §5.4) in its usual form."""
        digits = f"{self._bits(128):032x}"
        variant = "89ab"[int(digits[16], 16) & 3]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        )

    def span_id(self) -> str:
        """16 hex digits, never all zero."""
        return f"{self._bits(64) or 1:016x}"

    def span_bytes(self) -> bytes:
        """Eight bytes, never all zero: a span id in wire form."""
        return (self._bits(64) or 1).to_bytes(8)


class Parent(msgspec.Struct, frozen=True):
    """A valid traceparent."""

    trace_id: str
    span_id: str
    flags: int


class TraceContext(msgspec.Struct, frozen=True):
    """Where one request stands in its trace."""

    trace_id: str
    span_id: str
    """Of the SERVER span."""
    parent_span_id: str
    """The caller's span, "" if the trace begins here."""
    trace_state: str
    """To pass on to engines unchanged, "" for none."""
    flags: int
    link: str = ""
    """The traceparent of a caller that was not followed."""

    @property
    def sampled(self) -> bool:
        """Whether the spans of this request are exported."""
        return bool(self.flags & SAMPLED)

    def headers(self, span_id: str) -> list[tuple[str, str]]:
        """Return the headers an engine gets, with `span_id` (the CLIENT span's) as parent."""
        parent = ("traceparent", f"00-{self.trace_id}-{span_id}-{self.flags:02x}")
        return [parent, ("tracestate", self.trace_state)] if self.trace_state else [parent]


@dataclass(frozen=True, slots=True)
class ContextReader:
    """Turns a caller's headers into this request's place in a trace."""

    ids: Ids
    sampler: Sampler = field(default_factory=Sampler)
    trust: bool = True
    """False starts a new trace at this proxy and keeps the caller's context as a span link."""

    def read(
        self, traceparent: Sequence[str] = (), tracestate: Sequence[str] = ()
    ) -> TraceContext:
        """Return the context of a request with these header lines, in order; never raises."""
        parent = parse_traceparent(traceparent[0]) if len(traceparent) == 1 else None
        if parent is None or not self.trust:
            return self._begin(traceparent[0] if parent else "")
        sampled = self.sampler.keeps(parent.trace_id, bool(parent.flags & SAMPLED))
        return TraceContext(
            trace_id=parent.trace_id,
            span_id=self.ids.span_id(),
            parent_span_id=parent.span_id,
            trace_state=join_tracestate(tracestate) if tracestate else "",
            flags=(parent.flags & ~SAMPLED) | (SAMPLED if sampled else 0),
        )

    def _begin(self, link: str) -> TraceContext:
        trace_id = self.ids.trace_id()
        sampled = self.sampler.keeps(trace_id, None)
        flags = SAMPLED if sampled else 0
        return TraceContext(trace_id, self.ids.span_id(), "", "", flags, link[:55])


def parse_traceparent(value: str) -> Parent | None:
    """Return the caller's context, None if the header is not valid (section 3.2).

    Of a higher version than 00 the known fields are read and only the sampled flag is kept.
    """
    match = _TRACEPARENT.fullmatch(value)
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    if trace_id == _NO_TRACE or span_id == _NO_SPAN or version == "ff":
        return None
    if version == "00":
        return None if more is not None else Parent(trace_id, span_id, int(flags, 16) & 0x03)
    return Parent(trace_id, span_id, int(flags, 16) & SAMPLED)


def join_tracestate(lines: Iterable[str]) -> str:
    """Join header lines to a valid value of at most 512 characters, "" if any of it is invalid.

    Keys are unique within a list (section 3.3.1.3); more than 32 members are invalid.
    """
    joined = ",".join(lines)
    if len(joined) > _STATE_READ_MAX:
        return ""
    members = [member for part in joined.split(",") if (member := part.strip(" \t"))]
    if len(members) > _MEMBERS_MAX or not all(map(_MEMBER.fullmatch, members)):
        return ""
    if len({member.partition("=")[0] for member in members}) != len(members):
        return ""
    return ",".join(_shortened(members))


def _shortened(members: list[str]) -> list[str]:
    """Section 3.3.1.5: long members go first, then those at the end."""
    excess = sum(map(len, members)) + len(members) - 1 - _STATE_MAX
    kept = list(members)
    for long_ones in (True, False):
        for index in range(len(kept) - 1, -1, -1):
            if excess <= 0:
                return kept
            if not long_ones or len(kept[index]) > _LARGE_MEMBER:
                excess -= len(kept.pop(index)) + 1
    return kept
