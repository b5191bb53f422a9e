"""Compressed request bodies, read to a limit.

A small body may stand for one of gigabytes: nothing is decompressed beyond the limit.
"""

import zlib

from .errors import BadRequest

CODINGS = ("gzip", "x-gzip", "deflate")
"""Those taken besides none; RFC 9110 §8.4.1 has `x-gzip` mean `gzip`."""
_GZIP = 31
_ZLIB = 15
_RAW = -15
"""zlib's window sizes by container; `deflate` is a zlib stream, but some send a bare one."""
_ZLIB_METHOD = 8


def decompressed(data: bytes, coding: str, limit: int) -> bytes:
    """The plain body, of at most `limit` bytes; `coding` is one of CODINGS.

    Raises:
        BadRequest: it is longer (413), or not compressed in that way.

    """
    window = _GZIP if coding != "deflate" else _deflate_window(data)
    pieces, room = [], limit + 1
    try:
        while data:  # gzip may have several members
            stream = zlib.decompressobj(window)
            piece = stream.decompress(data, room)
            pieces.append(piece)
            room -= len(piece)
            if not room:
                raise too_large(limit)
            if not stream.eof:
                raise _bad()
            data = stream.unused_data
    except zlib.error as error:
        raise _bad() from error
    return b"".join(pieces)


def _deflate_window(data: bytes) -> int:
    return _ZLIB if data and data[0] & 0x0F == _ZLIB_METHOD else _RAW


def too_large(limit: int) -> BadRequest:
    """The body is longer than what is taken."""
    return BadRequest("body_too_large", f"the body may have at most {limit} bytes", status=413)


def _bad() -> BadRequest:
    return BadRequest("bad_body", "the body is not compressed as its Content-Encoding says")
