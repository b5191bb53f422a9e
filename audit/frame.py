"""One record as one line: `{"c":"<8 hex>","r":<record>}` and a line feed.

`c` is the beginning of the record's leaf hash, so that a line proves itself without an index, a
torn one is noticed, and the file is still plain JSON lines.
"""

from binascii import hexlify

from .canonical import MAX_BYTES
from .tree import leaf_hash

_HEAD = b'{"c":"'
_MIDDLE = b'","r":'
_TAIL = b"}\n"
_START = len(_HEAD) + 8 + len(_MIDDLE)
MAX_LINE = _START + MAX_BYTES + 64 + len(_TAIL)
"""The longest line this log writes, in bytes; 64 are for numbers that grow on a second write."""


def framed(record: bytes, leaf: bytes) -> bytes:
    """The line of a record whose leaf hash is `leaf`."""
    return b'{"c":"%b","r":%b}\n' % (hexlify(leaf[:4]), record)


def record_of(line: bytes) -> bytes:
    """The record in a line known to be whole."""
    return line[_START : -len(_TAIL)]


def unframed(line: bytes) -> bytes | None:
    """The leaf hash of a line's record; None if the line is not whole or not as it was written."""
    if not line.startswith(_HEAD) or not line.endswith(_TAIL) or line[14:_START] != _MIDDLE:
        return None
    leaf = leaf_hash(record_of(line))
    return leaf if hexlify(leaf[:4]) == line[6:14] else None
