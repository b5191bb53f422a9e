"""Server-sent events, read from bytes that may be cut anywhere.

Follows the WHATWG HTML standard, §9.2.6 "Interpreting an event stream", with the events' own
bytes kept, so that an event nobody changes is passed on as it came.  Line ends may be LF, CRLF
or CR; a comment block is an event without data; bytes after the last blank line are no event.
"""

import re

from ..errors import EngineFailed

LIMIT = 4 << 20
"""Bytes one event may have; more is a broken or hostile engine."""

_BOM = b"\xef\xbb\xbf"
"""May stand before the first line; readers skip it, so it must not hide that line from us."""

_DATA = b"data: "

_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n|\n\r(?!\n)|\r\n\r(?=[^\n])")


class EventReader:
    """Feed it bytes, and take whole events: (the bytes as they came, the joined data)."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    @property
    def rest(self) -> bytes:
        """What has come after the last whole event: half a frame, if the stream ends here."""
        return self._rest

    def feed(self, data: bytes) -> list[tuple[bytes, bytes | None]]:
        """The events completed by these bytes; data is None for a block without a data line.

        Raises:
            EngineFailed: an event is longer than LIMIT.

        """
        if self._rest:
            data = self._rest + data
        elif _is_single(data):
            return [(data, data[6:-2])]
        blocks = _split(data)
        self._rest = blocks.pop()[0]
        if len(self._rest) > LIMIT:
            raise EngineFailed("bad_stream", f"an event is longer than {LIMIT} bytes")
        return [(raw, _data(block)) for raw, block in blocks]


def _is_single(data: bytes) -> bool:
    """Whether this is one event of one line: a token that came alone, as most do."""
    return (
        data.startswith(_DATA)
        and data.endswith(b"\n\n")
        and data.find(b"\n") == len(data) - 2
        and b"\r" not in data
    )


def _split(data: bytes) -> list[tuple[bytes, bytes]]:
    """(raw, block without its blank line) for each whole block, then the rest."""
    if b"\r" not in data:  # every engine we recorded
        blocks = data.split(b"\n\n")
        return [(block + b"\n\n", block) for block in blocks[:-1]] + [(blocks[-1], b"")]
    out = []
    at = 0
    # A CR at the very end may be half of a CRLF, and waits for the next bytes; after another CR
    # it ends a blank line whatever follows.
    waits = data.endswith(b"\r") and not data.endswith(b"\r\r")
    whole = len(data) - 1 if waits else len(data)
    for end in _BLANK_LINE.finditer(data, 0, whole):
        out.append((data[at : end.end()], data[at : end.start()]))
        at = end.end()
    return [*out, (data[at:], b"")]


def _data(block: bytes) -> bytes | None:
    if block.startswith(_DATA) and b"\n" not in block and b"\r" not in block:
        return block[6:]
    lines = [
        line[5:].removeprefix(b" ")
        for line in re.split(rb"\r\n|\n|\r", block.removeprefix(_BOM))
        if line.startswith(b"data:")
    ]
    return b"\n".join(lines) if lines else None
