"""JSON as it comes from strangers: strict, exact, bounded.

RFC 8259 leaves duplicate names open, and parsers differ on which one counts.  A proxy that
inspects the last while the engine reads the first is blind, so duplicates are refused; so are
NaN, Infinity, invalid UTF-8 and nesting beyond a limit.
"""

import json
from typing import Any

import orjson

from .errors import BadRequest

MOST_CONTAINERS = 200_000
"""Objects and lists in a body: twenty for each message of the longest conversation.  They cost
far more to read than text of the same length."""


def decode(body: bytes, max_depth: int) -> Any:
    """The value of a JSON text.

    Raises:
        BadRequest: it is not JSON, is nested deeper than `max_depth`, holds over MOST_CONTAINERS
            objects and lists, or repeats a name.

    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest("invalid_json", _place(body, error)) from error
    if body.count(b"[") + body.count(b"{") > max_depth:
        _check_depth(value, max_depth)
    # Written back the same, byte for byte: no name was repeated and no number changed its value.
    return value if _is_canonical(value, body) else _decode_exactly(body)


def encode(value: Any) -> bytes:
    """The JSON text of a value that `decode` gave."""
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits, or over 254 levels: both admitted by decode
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _is_canonical(value: Any, body: bytes) -> bool:
    try:
        return orjson.dumps(value) == body
    except TypeError:  # over 254 levels, which orjson reads but does not write
        return False


def _decode_exactly(body: bytes) -> Any:
    """The slower reading that keeps large integers and sees repeated names."""
    try:
        return json.loads(body, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise BadRequest("invalid_json", "the body is not valid JSON") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise BadRequest(
            "duplicate_key",
            "an object in the body has the same name twice, so it is not clear which value "
            "counts; send each name once",
        )
    return value


def _check_depth(value: Any, max_depth: int) -> None:
    level = [value]
    count = 0
    for _ in range(max_depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        count += len(level)
        if count > MOST_CONTAINERS:
            raise BadRequest(
                "too_many_values",
                f"the body holds over {MOST_CONTAINERS} objects and lists; send fewer",
            )
        if not level:
            return
    raise BadRequest("nested_too_deep", f"the body is nested deeper than {max_depth} levels")


def _place(body: bytes, error: orjson.JSONDecodeError) -> str:
    """What is wrong and where, without quoting the body."""
    if not body.strip():
        return "the body is empty; send a JSON object"
    return f"the body is not valid JSON: line {error.lineno}, column {error.colno}"
