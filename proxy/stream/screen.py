"""The screen an answer's stream passes: bytes of an engine in, bytes for the client out.

Events wait in one queue and leave in their order.  An event leaves when every character it
carries is decided by its channel's HoldBack; unchanged events leave as the bytes they came as.
A replacement goes into the first event it touches, the others only lose characters.

The end marker is kept back in `last`: the relay sends it when the closing record is durable.
Failures and blocks are states, not exceptions: what was decided before them still goes out.
"""

from collections import deque
from collections.abc import Iterable

from ..dialects.base import Channel, Dialect, Repeats, Usage
from ..errors import EngineFailed, ProxyError, Refused
from .holdback import edited
from .sse import EventReader
from .track import Channels, Track

MOST_CHANNELS = 1024
MOST_QUEUED = 8 << 20
"""Bytes of events that may wait behind held text; an engine that sends more is broken."""


_Part = tuple[Track, int, int, str, Channel]
"""The stretch [at, end) of a channel that an event carries: track, at, end, text, channel."""

_Item = tuple[bytes, bytes, list[_Part]]
"""An event in the queue: the bytes it came as, its data, and what it carries."""


class StreamScreen:
    """One stream; `screening` gives the filters of a channel when it first appears."""

    def __init__(
        self,
        dialect: Dialect,
        screening: Channels,
        *,
        wants_usage: bool,
        names: tuple[str, str] | None = None,
    ) -> None:
        self._dialect = dialect
        self._events = dialect.event_reader()
        self._screening = screening
        self._wants_usage = wants_usage
        self._names = names
        self._reader = EventReader()
        self._queue: deque[_Item] = deque()
        self._queued = 0  # bytes of the events in the queue
        self._tracks: dict[Channel, Track] = {}
        self._sample = b""
        self._unfinished: set[int] = set()
        self._untouched = True
        self.last = b""
        """The dialect's end marker, once it has come; after a block, the end that tells of it."""
        self.failure: ProxyError | None = None
        self.blocked = False
        self.usage: Usage | None = None
        self.finish_reasons: list[str] = []
        self.text_events = 0
        """Events that carried text so far: the clock of first and next tokens."""
        self.held_max = 0
        """The most UTF-8 bytes of text that waited after any read."""
        self.held_total = 0
        """UTF-8 bytes of text that had to wait for a later read."""

    @property
    def over(self) -> bool:
        """Whether nothing more of the engine is wanted."""
        return self.blocked or self.failure is not None or bool(self.last)

    @property
    def model(self) -> str:
        """The model that the engine says it is, "" if it does not."""
        return self._dialect.model_of(self._sample)

    @property
    def text_length(self) -> int:
        """Characters of text that have come."""
        return sum(track.total for track in self._tracks.values())

    def feed(self, data: bytes) -> bytes:
        """Take bytes of the engine; what of the stream may go to the client now."""
        if not self._queue and self._passes_alone(data):
            return self._shown(data)
        try:
            self._take_all(data)
            if not self.over:
                self._decide(track for track in self._tracks.values() if track.pending)
        except EngineFailed as failure:
            self.failure = failure
        except Refused as refusal:
            return self._seal(refusal)
        if self.over:
            return self._flush()
        self._weigh()
        return self._drain()

    def finish(self) -> bytes:
        """The engine has closed its stream: what is due; sets `failure` if that was no end.

        A stream is whole when its end marker came or when every choice had its finish reason.
        """
        if self.over:
            return b""
        if self._reader.rest.strip():
            self.failure = EngineFailed("truncated", "the engine's stream broke off in an event")
        elif self._unfinished or not self.finish_reasons:
            self.failure = EngineFailed("truncated", "the engine's stream ended without its end")
        return self._flush()

    def abort(self) -> bytes:
        """The engine is gone: everything held is due, as far as it came."""
        return self._flush()

    def _passes_alone(self, data: bytes) -> bool:
        """Take an event that came alone if nothing of it must wait: most tokens are such."""
        if self._reader.rest or self.over:
            return False
        same = self._events.alone(data)
        track = self._tracks.get(same.channel) if same is not None else None
        if same is None or track is None or not track.passes(same.text):
            return False
        self.text_events += 1
        return True

    def _take_all(self, data: bytes) -> None:
        """Take events in stretches that only say more of one channel, and the others singly."""
        while data and not self.over:
            singly, same = data, None
            if self._reader.rest:
                data = b""
            else:
                singly, same, data = self._events.split(data)
            if singly:
                self._take_singly(singly)
            if same is not None and not self.over and not self._pass_repeats(same):
                self._take_singly(same.raw)

    def _pass_repeats(self, same: Repeats) -> bool:
        """Take a stretch as one if nothing of it must wait for a decision.

        Most are such: then the bytes of all these events leave together, after what came before.
        """
        track = self._tracks.get(same.channel)
        if track is None:
            return False
        if track.pending:
            self._decide((track,))
        if self.blocked:
            return True
        if not track.passes(same.text):
            return False
        self.text_events += same.events
        self._enqueue(same.raw, b"", [])
        return True

    def _take_singly(self, data: bytes) -> None:
        """Take event by event, up to one that ends all."""
        for raw, body in self._reader.feed(data):
            if body is None:
                self._enqueue(raw, b"", [])
            elif self._take(raw, body):
                break

    def _enqueue(self, raw: bytes, data: bytes, parts: list[_Part]) -> None:
        self._queued += len(raw)
        if self._queued > MOST_QUEUED:
            raise EngineFailed("bad_stream", "the engine sends events but no text that ends")
        self._queue.append((raw, data, parts))

    def _take(self, raw: bytes, body: bytes) -> bool:
        """Put an event into the queue, and its texts into their channels; whether it ends all."""
        event = self._events.read(body)
        if event.last:
            self.last = raw
            return True
        if event.empty:
            return False
        if event.error is not None:
            self.failure = EngineFailed("engine_error", event.error)
            return True
        if event.usage is not None:
            self.usage = event.usage
            if event.usage_only and not self._wants_usage:
                return False
        parts = [self._part(channel, text) for channel, text in event.parts]
        if parts:
            self.text_events += 1
        self._sample = self._sample or body
        self._enqueue(raw, body, parts)
        for choice, reason in event.finished:
            self._finish_choice(choice, reason)
        return self.blocked

    def _part(self, channel: Channel, text: str) -> _Part:
        track = self._tracks.get(channel) or self._new_track(channel)
        at = track.total
        track.take(text)
        return track, at, track.total, text, channel

    def _new_track(self, channel: Channel) -> Track:
        if len(self._tracks) >= MOST_CHANNELS:
            raise EngineFailed("bad_stream", f"the engine's answer has over {MOST_CHANNELS} parts")
        track = self._tracks[channel] = Track(self._screening, channel)
        self._unfinished.add(channel.choice)
        return track

    def _finish_choice(self, choice: int, reason: str) -> None:
        if len(self.finish_reasons) < MOST_CHANNELS:
            self.finish_reasons.append(reason)
        self._unfinished.discard(choice)
        self._end(track for channel, track in self._tracks.items() if channel.choice == choice)

    def _decide(self, tracks: Iterable[Track]) -> None:
        """Let channels decide what they can of what has come."""
        for track in tracks:
            track.push()
            self._heed(track)

    def _end(self, tracks: Iterable[Track]) -> None:
        """Let channels decide all: nothing more of them comes."""
        for track in tracks:
            track.close()
            self._heed(track)

    def _heed(self, track: Track) -> None:
        if track.edits or track.stop >= 0:
            self._untouched = False
            self.blocked = self.blocked or track.stop >= 0

    def _weigh(self) -> None:
        held = 0
        for track in self._tracks.values():
            if track.decided < track.total:
                held += len(track.hold.held.encode("utf-8", "replace"))
        if held:
            self.held_total += held
            self.held_max = max(self.held_max, held)

    def _drain(self) -> bytes:
        """The bytes of all events at the head of the queue that are decided."""
        queue = self._queue
        out: list[bytes] = []
        while queue and _decided(queue[0][2]):
            item = queue.popleft()
            self._queued -= len(item[0])
            out.append(item[0] if self._untouched else self._render(item))
        return self._shown(b"".join(out))

    def _shown(self, raw: bytes) -> bytes:
        """Events as the client gets them: without what it did not ask for, under its names."""
        if not self._wants_usage:
            raw = self._dialect.without_usage(raw)
        return self._dialect.renamed(raw, self._names) if self._names else raw

    def _seal(self, refusal: Refused) -> bytes:
        """Nothing more goes out: a text of this answer cannot be read."""
        self.failure = refusal
        self._queue.clear()
        return b""

    def _flush(self) -> bytes:
        try:
            self._end(self._tracks.values())
        except Refused as refusal:
            return self._seal(refusal)
        if not self.blocked:
            return self._drain()
        for track in self._tracks.values():
            track.decided = track.total
        out = self._drain()
        self.last = self._block_events()
        return out

    def _render(self, item: _Item) -> bytes:
        """An event with the edits that touch it; after the one that reaches a stop, no more."""
        raw, data, parts = item
        texts = {}
        for track, at, end, text, channel in parts:
            shown = text
            if 0 <= track.stop < end:
                shown = text[: max(0, track.stop - at)]
                self._queue.clear()
            if track.edits:
                shown = edited(shown, track.edits, at)
                track.edits = [e for e in track.edits if e.end > end]
            if shown != text:
                texts[channel] = shown
        try:
            return self._dialect.edit_event(data, texts) if texts else raw
        except EngineFailed as failure:  # read as far as its texts, but no more
            self.failure = failure
            self._queue.clear()
            return b""

    def _block_events(self) -> bytes:
        self.finish_reasons = ["content_filter"]
        sample = self._sample
        usage = (self.usage or Usage()) if self._wants_usage else None
        ends = self._dialect.block_events(sample, sorted(self._unfinished or {0}), usage)
        return self._dialect.renamed(ends, self._names) if self._names else ends


def _decided(parts: list[_Part]) -> bool:
    for track, _, end, _, _ in parts:  # noqa: SIM110 - all() costs a generator for each token
        if end > track.decided:
            return False
    return True
