"""Canonical bytes of a record: RFC 8785 (JCS), written by orjson with sorted keys.

orjson's sorted output *is* RFC 8785 as long as the values leave out what the two write
differently: floats, integers beyond 2^53, keys outside ASCII, lone surrogates, null.  The guard
here refuses all of them, so that whoever holds only the parsed record can compute its leaf hash
with any JCS library.  Does not know what the fields mean.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from .failure import RecordError

MAX_INT = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly (RFC 8785, IEEE 754 doubles)."""
MAX_BYTES = 32_768
"""Largest record.  C2SP tlog-tiles allows entries of 65,535 bytes; half of it leaves room."""
MAX_DEPTH = 8

_KEY = re.compile(r"[a-z0-9_]{1,16}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(record: dict[str, Any]) -> bytes:
    """The canonical bytes of a record whose values are known to be admissible.

    Strings that UTF-8 cannot carry are repaired (`mend` counts the strings) and what is too long
    is shortened (`trunc` counts the cuts): a request must not stay off the record because its
    sender chose odd characters or very many of them.

    Raises:
        RecordError: if the record is larger than MAX_BYTES even when shortened.

    """
    try:
        encoded = orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        encoded = orjson.dumps(_mended(record), option=orjson.OPT_SORT_KEYS)
    if len(encoded) <= MAX_BYTES:
        return encoded
    return shortened(encoded)


def shortened(encoded: bytes) -> bytes:
    """The canonical bytes of a record that is too long, cut until it is not.

    Raises:
        RecordError: if that is not enough.

    """
    record: dict[str, Any] = orjson.loads(encoded)
    # Halving from generous bounds: an ordinary record with one huge field loses only there.
    for text, items in ((2048, 256), (512, 64), (128, 16), (64, 8)):
        cut, count = _cut(record, text, items)
        cut["trunc"] = count
        shorter = orjson.dumps(cut, option=orjson.OPT_SORT_KEYS)
        if len(shorter) <= MAX_BYTES:
            return shorter
    raise RecordError(f"a record is larger than {MAX_BYTES} bytes")


def check(value: object, depth: int = MAX_DEPTH) -> None:
    """Refuse whatever RFC 8785 and orjson would write differently, and every null.

    Raises:
        RecordError: naming the kind of fault, never the value.

    """
    match value:
        case bool() | str():
            return
        case int():
            if not -MAX_INT <= value <= MAX_INT:
                raise RecordError("an integer is beyond 2^53 - 1")
        case Mapping():
            _check_members(value, depth)
        case list() | tuple():
            _deeper(depth)
            for item in value:
                check(item, depth - 1)
        case _:
            raise RecordError(f"a record holds no {type(value).__name__}")


def _check_members(members: Mapping[Any, Any], depth: int) -> None:
    _deeper(depth)
    for key, item in members.items():
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise RecordError("a key is not 1 to 16 of a-z, 0-9 and _")
        check(item, depth - 1)


def _deeper(depth: int) -> None:
    if depth == 0:
        raise RecordError(f"a record is nested deeper than {MAX_DEPTH}")


def _mended(record: dict[str, Any]) -> dict[str, Any]:
    count = 0

    def mend(value: Any) -> Any:
        nonlocal count
        match value:
            case str() if _SURROGATE.search(value):
                count += 1
                return _SURROGATE.sub("\ufffd", value)
            case Mapping():
                return {key: mend(item) for key, item in value.items()}
            case list() | tuple():
                return [mend(item) for item in value]
            case _:
                return value

    mended: dict[str, Any] = mend(record)
    if count == 0:
        raise RecordError("a record holds something that JSON does not")
    mended["mend"] = count
    return mended


def _cut(record: dict[str, Any], text: int, items: int) -> tuple[dict[str, Any], int]:
    count = 0

    def cut(value: Any) -> Any:
        nonlocal count
        match value:
            case str() if len(value) > text:
                count += 1
                return value[:text]
            case dict():
                return {key: cut(item) for key, item in value.items()}
            case list():
                count += len(value) > items
                return [cut(item) for item in value[:items]]
            case _:
                return value

    return {key: cut(item) for key, item in record.items()}, count
