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

_FIRST = 4
"""Events of a first read that are read to find a frame: a role, and some text."""

_MOST_FRAMES = 8
"""Frames that are tried for one stream; an engine whose events all differ gains nothing."""


class RepeatReader:
    """One stream's reader; equals `events.read` for every event."""

    __slots__ = ("_begin", "_channel", "_end", "_fresh", "_head", "_seam", "_tail", "_tries")

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._channel: Channel | None = None
        self._tries = 0
        self._fresh = True
        # The same on the wire; the seam stands between two events.  Empty if there is no frame.
        self._begin = self._end = self._seam = b""

    def split(self, raw: bytes) -> tuple[bytes, Repeats | None, bytes]:
        """Part bytes that begin with an event: to be read, repeats of the frame, to be split.

        All of it is to be read where no frame is known, but of the first read only its beginning.
        """
        begin = self._begin
        if not begin:
            cut = _after_events(raw, _FIRST) if self._fresh else len(raw)
            self._fresh = False
            return raw[:cut], None, raw[cut:]
        start = 0
        if not raw.startswith(begin):
            start = raw.find(_BLANK + begin) + len(_BLANK)
            if start < len(_BLANK):
                return raw, None, b""
        same = self._repeats(raw[start + len(begin) :])
        if same is None:
            return raw, None, b""
        return raw[:start], same, raw[start + len(same.raw) :]

    def alone(self, raw: bytes) -> Repeats | None:
        """One event of the frame and no more: a token that came alone, as most do."""
        begin, end = self._begin, self._end
        if not begin or self._channel is None or not (raw.startswith(begin) and raw.endswith(end)):
            return None
        text = raw[len(begin) : -len(end)]
        if not _PLAIN.fullmatch(text):  # neither an end nor another event fits into what is
            return None
        try:
            return Repeats(self._channel, text.decode(), 1, raw)
        except UnicodeDecodeError:
            return None

    def _repeats(self, rest: bytes) -> Repeats | None:
        """The events of the frame at the beginning of what follows `_begin`."""
        pieces = rest.split(self._seam)
        last = pieces.pop()
        text, end, _ = last.partition(self._end)
        if end:
            pieces.append(text)
        texts = b"".join(pieces)
        # No seam is left, and no text had one in it: it has quotation marks.
        if self._channel is None or b"" in pieces or not _PLAIN.fullmatch(texts):
            return None
        if not (texts.isascii() or all(map(_is_text, pieces))):
            return None
        raw = b"".join((self._begin, self._seam.join(pieces), self._end))
        return Repeats(self._channel, texts.decode(), len(pieces), raw)

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
        if literal == _PROBE:  # it would prove nothing
            return
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


def _after_events(raw: bytes, count: int) -> int:
    at = 0
    for _ in range(count):
        at = raw.find(_BLANK, at) + len(_BLANK)
        if at < len(_BLANK):
            return len(raw)
    return at


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
