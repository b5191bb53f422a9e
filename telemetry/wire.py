"""Span attributes and fields in protobuf's wire form, without message objects.

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
_ONE_BYTE: Final = tuple(n.to_bytes() for n in range(128))
_SPAN_ATTRIBUTE: Final = b"\x4a"  # Span.attributes, field 9
_KEY: Final = b"\x0a"  # KeyValue.key, 1
_VALUE: Final = b"\x12"  # KeyValue.value, 2
_STRING: Final = b"\x0a"  # AnyValue.string_value, 1
_BOOL: Final = b"\x10"  # AnyValue.bool_value, 2
_INT: Final = b"\x18"  # AnyValue.int_value, 3
_DOUBLE: Final = b"\x21"  # AnyValue.double_value, 4
_ARRAY: Final = b"\x2a"  # AnyValue.array_value, 5
_ARRAY_ITEM: Final = b"\x0a"  # ArrayValue.values, 1
_PARENT: Final = b"\x22\x08"  # Span.parent_span_id, 4, eight bytes
_TRACE_STATE: Final = b"\x1a"  # Span.trace_state, 3

_double: Final = Struct("<d").pack
# Span.trace_id 1 (16 bytes), span_id 2 (8 bytes), start 7 and end 8 (fixed64)
_span_head: Final = Struct("<2s16s2s8scQcQ").pack
_KEYS_KEPT: Final = 2048


def varint(number: int) -> bytes:
    """Encode 0 <= number < 2**64, seven bits a byte, the lowest first."""
    if number < 128:  # noqa: PLR2004 - the common case
        return _ONE_BYTE[number]
    if number < 16384:  # noqa: PLR2004 - two bytes, nearly as common
        return bytes((number & 0x7F | 0x80, number >> 7))
    out = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def framed(tag: bytes, message: bytes) -> bytes:
    """Encode a length-delimited field: text, bytes or a message."""
    length = len(message)
    return tag + (_ONE_BYTE[length] if length < 128 else varint(length)) + message  # noqa: PLR2004


def clean(text: str) -> str:
    """Cut to TEXT_MAX characters and replace what UTF-8 cannot carry (lone surrogates)."""
    text = text[:TEXT_MAX]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def attribute(key: str, value: Value) -> bytes:
    """Encode one attribute of a Span."""
    return framed(_SPAN_ATTRIBUTE, key_value(key, value))


def seconds(key: str, duration_ns: float) -> bytes:
    """Encode a duration attribute, given in nanoseconds, as a double in seconds."""
    return _double_head(key) + _double(duration_ns * _NS)


def count(key: str, number: int) -> bytes:
    """Encode an int attribute, 0 <= number < 2**63; three times as fast as `attribute`."""
    value = varint(number)
    return _int_head(key, len(value)) + value


def key_value(key: str, value: Value) -> bytes:
    """Encode a KeyValue message; raises OverflowError if an int exceeds 64 bits."""
    return _key(key) + framed(_VALUE, _any_value(value))


def span_head(trace_id: bytes, span_id: bytes, start_ns: int, end_ns: int) -> bytes:
    """Encode the fields all spans have; raises struct.error for a negative or too large time."""
    return _span_head(
        b"\x0a\x10", trace_id, b"\x12\x08", span_id, b"\x39", start_ns, b"\x41", end_ns
    )


def parent(span_id: bytes) -> bytes:
    """Encode Span.parent_span_id of eight bytes."""
    return _PARENT + span_id


def trace_state(value: str) -> bytes:
    """Encode Span.trace_state, nothing if it is empty."""
    return framed(_TRACE_STATE, value.encode()) if value else b""


def _any_value(value: Value) -> bytes:
    match value:
        case str():
            return framed(_STRING, clean(value).encode())
        case bool():
            return _BOOL + _ONE_BYTE[value]
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


@lru_cache(_KEYS_KEPT)
def _double_head(key: str) -> bytes:
    return attribute(key, 0.0)[:-8]


@lru_cache(_KEYS_KEPT)
def _int_head(key: str, size: int) -> bytes:
    """Return all of an int attribute but its varint, which has `size` bytes."""
    return attribute(key, 1 << 7 * (size - 1))[:-size]
