import gzip
import zlib

import pytest

from tidegate.proxy.coding import CODINGS, decompressed
from tidegate.proxy.errors import BadRequest

TEXT = b'{"model": "m"}' * 100
RAW = zlib.compressobj(wbits=-15)
BARE = RAW.compress(TEXT) + RAW.flush()


@pytest.mark.parametrize(
    ("data", "coding"),
    [
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT), "x-gzip"),
        (gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]), "gzip"),
        (zlib.compress(TEXT), "deflate"),
        (BARE, "deflate"),
    ],
)
def test_every_coding_is_read(data: bytes, coding: str) -> None:
    assert coding in CODINGS
    assert decompressed(data, coding, len(TEXT)) == TEXT


def test_nothing_is_nothing() -> None:
    assert decompressed(b"", "gzip", 10) == b""
    assert decompressed(b"", "deflate", 10) == b""


@pytest.mark.parametrize("limit", [0, 1, len(TEXT) - 1])
def test_one_byte_beyond_the_limit_is_too_much(limit: int) -> None:
    with pytest.raises(BadRequest) as caught:
        decompressed(gzip.compress(TEXT), "gzip", limit)

    assert (caught.value.status, caught.value.code) == (413, "body_too_large")


def test_members_share_one_limit() -> None:
    member = gzip.compress(TEXT)

    with pytest.raises(BadRequest) as caught:
        decompressed(member * 3, "gzip", 2 * len(TEXT))

    assert caught.value.code == "body_too_large"


@pytest.mark.parametrize(
    ("data", "coding"),
    [
        (TEXT, "gzip"),
        (b"\xff" + TEXT, "deflate"),
        (gzip.compress(TEXT)[:-9], "gzip"),
        (gzip.compress(TEXT)[:-8] + bytes(8), "gzip"),
        (gzip.compress(TEXT) + b"rest", "gzip"),
        (zlib.compress(TEXT), "gzip"),
    ],
)
def test_what_is_not_compressed_that_way_is_refused(data: bytes, coding: str) -> None:
    with pytest.raises(BadRequest) as caught:
        decompressed(data, coding, 10 * len(TEXT))

    assert (caught.value.status, caught.value.code) == (400, "bad_body")
