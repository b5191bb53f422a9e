"""Span attributes and fields in protobuf's wire form, without message objects.

What has a name known ahead is a class here: its constant bytes are made once, and encoding one
value is one addition.  `attribute` encodes the rest.

Source: protobuf.dev, "Encoding", and opentelemetry-proto's trace.proto and common.proto (OTLP 1.x,
stable: field numbers cannot change).  A test decodes all of it with the official messages.
"""

from functools import lru_cache
from struct import Struct
from typing import Final

Value = str | int | float | bool | list[str]

TEXT_MAX: Final = 256
"""Characters kept of any text."""

_NS: Final = 1e-9
_INT_END: Final = 1 << 63
_INT_BYTES: Final = 9
"""The longest varint below _INT_END."""
_BYTE: Final = tuple(n.to_bytes() for n in range(256))
_SPAN_ATTRIBUTE: Final = b"\x4a"  # Span.attributes, field 9
_KEY: Final = b"\x0a"  # KeyValue.key, 1
_VALUE: Final = b"\x12"  # KeyValue.value, 2
_STRING: Final = b"\x0a"  # AnyValue.string_value, 1
_BOOL: Final = b"\x10"  # AnyValue.bool_value, 2
_INT: Final = b"\x18"  # AnyValue.int_value, 3
_DOUBLE: Final = b"\x21"  # AnyValue.double_value, 4
_ARRAY: Final = b"\x2a"  # AnyValue.array_value, 5
_ARRAY_ITEM: Final = b"\x0a"  # ArrayValue.values, 1
_TRACE_ID: Final = b"\x0a\x10"  # Span.trace_id, 1, sixteen bytes
_SPAN_ID: Final = b"\x12\x08"  # Span.span_id, 2, eight bytes
_TRACE_STATE: Final = b"\x1a"  # Span.trace_state, 3
_PARENT: Final = b"\x22\x08"  # Span.parent_span_id, 4, eight bytes
_START: Final = b"\x39"  # Span.start_time_unix_nano, 7, fixed64
_END: Final = b"\x41"  # Span.end_time_unix_nano, 8, fixed64

_double: Final = Struct("<d").pack
_trace: Final = Struct("<2s16s").pack
_parent: Final = Struct("<2s8s").pack
_own: Final = Struct("<2s8scQcQ").pack
OWN_SIZE: Final = 28
"""Bytes that `own` gives."""
_KEYS_KEPT: Final = 2048


class TextAttribute:
    """An attribute of a span whose value is a text."""

    __slots__ = ("_heads", "_key")

    def __init__(self, key: str) -> None:
        self._key = key
        # By the size of the text, which follows.
        texts = ("x" * size for size in range(TEXT_MAX + 1))
        self._heads = [attribute(key, text)[: -len(text) or None] for text in texts]

    def encode(self, text: str) -> bytes:
        """Encode one value, cut as `clean` does."""
        if len(text) > TEXT_MAX or not text.isascii():
            return attribute(self._key, text)
        return self._heads[len(text)] + text.encode()


class CountAttribute:
    """An attribute of a span whose value is a number of things."""

    __slots__ = ("_heads",)

    def __init__(self, key: str) -> None:
        # By the size of the varint, which follows.
        sizes = range(1, _INT_BYTES + 1)
        heads = [attribute(key, 1 << 7 * (size - 1))[:-size] for size in sizes]
        self._heads = (b"", *heads)

    def encode(self, number: int) -> bytes:
        """Encode one value, nothing if it is negative: not known.

        Raises OverflowError for 2**63 and more.
        """
        if 128 <= number < 16384:  # noqa: PLR2004 - two bytes of seven bits
            return self._heads[2] + _BYTE[number & 0x7F | 0x80] + _BYTE[number >> 7]
        if number < 0:
            return b""
        if number >= _INT_END:
            raise OverflowError("an attribute's int exceeds 64 bits")
        value = varint(number)
        return self._heads[len(value)] + value


class DurationAttribute:
    """An attribute of a span whose value is a duration."""

    __slots__ = ("head",)

    def __init__(self, key: str) -> None:
        self.head = attribute(key, 0.0)[:-8]

    def encode(self, duration_ns: float) -> bytes:
        """Encode nanoseconds as a double in seconds, nothing if they are negative: not known."""
        return self.head + _double(duration_ns * _NS) if duration_ns >= 0 else b""


class FourDurations:
    """Four attributes of a span whose values are durations: one step if all are known."""

    __slots__ = ("_heads", "_pack", "_single")

    def __init__(self, first: str, second: str, third: str, fourth: str) -> None:
        self._single = [DurationAttribute(key) for key in (first, second, third, fourth)]
        a, b, c, d = (single.head for single in self._single)
        self._heads = (a, b, c, d)
        self._pack = Struct(f"<{len(a)}sd{len(b)}sd{len(c)}sd{len(d)}sd").pack

    def encode(self, first: float, second: float, third: float, fourth: float) -> bytes:
        """Encode four values in nanoseconds, as DurationAttribute does."""
        if min(first, second, third, fourth) < 0:
            values = (first, second, third, fourth)
            return b"".join(
                [one.encode(value) for one, value in zip(self._single, values, strict=True)]
            )
        a, b, c, d = self._heads
        return self._pack(a, first * _NS, b, second * _NS, c, third * _NS, d, fourth * _NS)


def varint(number: int) -> bytes:
    """Encode 0 <= number < 2**64, seven bits a byte, the lowest first."""
    if number < 128:  # noqa: PLR2004 - the common case
        return _BYTE[number]
    if number < 16384:  # noqa: PLR2004 - two bytes, nearly as common
        return _BYTE[number & 0x7F | 0x80] + _BYTE[number >> 7]
    out = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def framed(tag: bytes, message: bytes) -> bytes:
    """Encode a length-delimited field: text, bytes or a message."""
    return tag + varint(len(message)) + message


def clean(text: str) -> str:
    """Cut to TEXT_MAX characters and replace what UTF-8 cannot carry (lone surrogates)."""
    text = text[:TEXT_MAX]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def attribute(key: str, value: Value) -> bytes:
    """Encode one attribute of a Span."""
    return framed(_SPAN_ATTRIBUTE, key_value(key, value))


def key_value(key: str, value: Value) -> bytes:
    """Encode a KeyValue message; raises OverflowError if an int exceeds 64 bits."""
    return _key(key) + framed(_VALUE, _any_value(value))


def trace(trace_id: bytes) -> bytes:
    """Encode Span.trace_id of sixteen bytes."""
    return _trace(_TRACE_ID, trace_id)


def parent(span_id: bytes) -> bytes:
    """Encode Span.parent_span_id of eight bytes."""
    return _parent(_PARENT, span_id)


def own(span_id: bytes, start_ns: int, end_ns: int) -> bytes:
    """Encode a span's id, of eight bytes, and times, in OWN_SIZE bytes.

    Raises struct.error for a negative or too large time.
    """
    return _own(_SPAN_ID, span_id, _START, start_ns, _END, end_ns)


def trace_state(value: str) -> bytes:
    """Encode Span.trace_state, nothing if it is empty."""
    return framed(_TRACE_STATE, value.encode()) if value else b""


def _any_value(value: Value) -> bytes:
    match value:
        case str():
            return framed(_STRING, clean(value).encode())
        case bool():
            return _BOOL + _BYTE[value]
        case int():
            if not -_INT_END <= value < _INT_END:
                raise OverflowError("an attribute's int exceeds 64 bits")
            # Negative numbers are 64-bit two's complement, ten bytes.
            return _INT + varint(value if value >= 0 else value + 2 * _INT_END)
        case float():
            return _DOUBLE + _double(value)
        case _:
            items = [framed(_ARRAY_ITEM, _any_value(item)) for item in value]
            return framed(_ARRAY, b"".join(items))


@lru_cache(_KEYS_KEPT)
def _key(key: str) -> bytes:
    return framed(_KEY, clean(key).encode())
