"""Reads the events of one stream, most of which differ from each other in their text alone.

Once an event has been read, the bytes before and after its text are known.  An event that begins
and ends with the same bytes, and has nothing between them that could end a JSON string, says the
same with another text: it need not be parsed, and a read that holds nothing but such events need
not be taken apart.  Whether the bytes between are really the text is not guessed: a probe put in
their place is read by the parser when the frame is made.
"""

import re

from ...errors import EngineFailed
from ..base import Channel, Repeats, StreamEvent
from . import events

_PROBE = b"tidegate-probe"
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]+')
"""What stands for itself in a JSON string (RFC 8259 section 7)."""

_FIELD = b"data: "
_BLANK = b"\n\n"
"""How an event of one line stands on the wire."""

_MOST_FRAMES = 8
"""Frames that are tried for one stream; an engine whose events all differ gains nothing."""


class RepeatReader:
    """One stream's reader; equals `events.read` for every event."""

    __slots__ = ("_begin", "_channel", "_end", "_head", "_seam", "_tail", "_tries")

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._channel: Channel | None = None
        self._tries = 0
        # The same on the wire; the seam stands between two events.  Empty if there is no frame.
        self._begin = self._end = self._seam = b""

    def repeats(self, raw: bytes) -> Repeats | None:
        """What these bytes of the stream say if they are whole events of the frame, else None.

        They begin where an event begins.
        """
        begin, end = self._begin, self._end
        if not begin or not raw.startswith(begin) or not raw.endswith(end):
            return None
        texts = raw[len(begin) : len(raw) - len(end)]
        count = 1
        if self._seam in texts:
            pieces = texts.split(self._seam)
            count = len(pieces)
            texts = b"".join(pieces)
            if b"" in pieces or not (texts.isascii() or all(map(_is_text, pieces))):
                return None
        # No seam is left, and no text had one in it: it has quotation marks.
        if self._channel is None or not _PLAIN.fullmatch(texts):
            return None
        try:
            return Repeats(self._channel, texts.decode(), count)
        except UnicodeDecodeError:
            return None

    def read(self, data: bytes) -> StreamEvent:
        """Read one event's data.  Raises EngineFailed as `events.read` does."""
        channel = self._channel
        if channel is not None and data.startswith(self._head) and data.endswith(self._tail):
            text = data[len(self._head) : len(data) - len(self._tail)]
            if _PLAIN.fullmatch(text):
                try:
                    return StreamEvent(((channel, text.decode()),))
                except UnicodeDecodeError:
                    pass  # the parser says what is wrong
        event = events.read(data)
        if self._tries < _MOST_FRAMES and _is_text_alone(event):
            self._learn(data, event)
        return event

    def _learn(self, data: bytes, event: StreamEvent) -> None:
        self._tries += 1
        (channel, text), *_ = event.parts
        literal = text.encode("utf-8", "replace")
        at = data.rfind(b'"' + literal + b'"') + 1
        if not at:  # it was written with escapes
            return
        head, tail = data[:at], data[at + len(literal) :]
        if _reads_probe(head, tail, channel):
            self._head, self._tail, self._channel = head, tail, channel
            # Of data in several lines the wire shows more than the lines.
            on_a_line = b"\n" not in data and b"\r" not in data
            self._begin = _FIELD + head if on_a_line else b""
            self._end = tail + _BLANK
            self._seam = self._end + self._begin


def _reads_probe(head: bytes, tail: bytes, channel: Channel) -> bool:
    """Whether what stands between head and tail is the text of this channel, and all there is."""
    try:
        return events.read(head + _PROBE + tail) == StreamEvent(((channel, _PROBE.decode()),))
    except EngineFailed:
        return False


def _is_text_alone(event: StreamEvent) -> bool:
    return len(event.parts) == 1 and event == StreamEvent(event.parts)


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
