"""What a client reads of a screened stream does not depend on how its bytes were cut."""

from dataclasses import dataclass
from itertools import pairwise

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.proxy.stream.screens import (
    DONE,
    HELD,
    Channels,
    chunks,
    ends,
    event,
    judge,
    run,
    screen,
    texts,
)

from tidegate.detectors import Segment, Source, Trust
from tidegate.proxy.dialects.base import Channel
from tidegate.proxy.stream.holdback import edited, judged
from tidegate.proxy.stream.screen import StreamScreen

HARMLESS = [
    "sk-ab",
    "cdefgh",
    "sk-abcdef",
    "078-05-1120",
    "078-",
    "05-11",
    "20",
    " ",
    "x",
    "世",
    "\n",
]
PIECES = st.sampled_from(HARMLESS)
ALL_PIECES = st.sampled_from([*HARMLESS, "bomb1", "234", "bomb1234 ", "bo", "mb"])
KINDS = st.sampled_from(["content", "reasoning_content", "refusal", "tool0", "tool1"])
CUTS = st.lists(st.integers(0, 10_000), max_size=12)


@dataclass(frozen=True)
class Delta:
    choice: int
    kind: str
    text: str

    @property
    def channel(self) -> tuple[int, str, int]:
        is_tool = self.kind.startswith("tool")
        return self.choice, "tool" if is_tool else self.kind, int(self.kind[4:]) if is_tool else 0

    def event(self) -> bytes:
        delta: dict[str, object] = {self.kind: self.text}
        if self.kind.startswith("tool"):
            call = {"index": int(self.kind[4:]), "function": {"arguments": self.text}}
            delta = {"tool_calls": [call]}
        return event({"index": self.choice, "delta": delta, "finish_reason": None})


def deltas(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[list[Delta]]:
    return st.lists(st.builds(Delta, st.integers(0, 2), KINDS, pieces), min_size=1, max_size=16)


def stream_of(said: list[Delta]) -> bytes:
    choices = sorted({delta.choice for delta in said})
    return b"".join(d.event() for d in said) + b"".join(ends(c) for c in choices) + DONE


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    marks = sorted({0, len(stream), *(c % (len(stream) + 1) for c in cuts)})
    return [stream[a:b] for a, b in pairwise(marks)]


def whole(said: list[Delta]) -> dict[tuple[int, str, int], str]:
    """Each channel's text screened at once."""
    full: dict[tuple[int, str, int], str] = {}
    for delta in said:
        full[delta.channel] = full.get(delta.channel, "") + delta.text
    out = {channel: screened(text) for channel, text in full.items()}
    return {channel: text for channel, text in out.items() if text}


def screened(text: str, shown: int | None = None) -> str:
    """The first `shown` characters, as they read once all of this text is known."""
    segment = Segment(text, (), Source.ASSISTANT, Trust.MODEL)
    edits, stop = judged(segment, HELD.find(segment), judge)
    end = min(len(text) if shown is None else shown, stop if stop >= 0 else len(text))
    return edited(text[:end], edits)


def seen(filter_: StreamScreen) -> list[tuple[Channel, int]]:
    """What the followers of a screen have found, by channel and place."""
    channels = filter_._screening
    assert isinstance(channels, Channels)
    return sorted(channels.seen)


def possible(said: list[Delta], channel: tuple[int, str, int]) -> set[str]:
    """What may be seen of a channel when a block ends the stream somewhere.

    Some of its events have come, and some of these have gone out: a text that breaks off may read
    otherwise than in full, as `sk-abcdef` before a `0` does.
    """
    pieces = [delta.text for delta in said if delta.channel == channel]
    come = ["".join(pieces[:n]) for n in range(len(pieces) + 1)]
    return {screened(text, len(gone)) for text in come for gone in come if len(gone) <= len(text)}


@settings(max_examples=400, deadline=None)
@given(said=deltas(PIECES), cuts=CUTS)
def test_each_channel_reads_as_if_screened_at_once(said: list[Delta], cuts: list[int]) -> None:
    filter_ = screen()
    out = run(filter_, cut(stream_of(said), cuts))

    assert whole(said) == texts(out)
    assert filter_.failure is None
    assert out.endswith(DONE)


@settings(max_examples=600, deadline=None)
@given(
    said=st.lists(
        st.builds(
            Delta,
            st.just(0),
            st.sampled_from(["content", "content", "content", "reasoning_content"]),
            st.sampled_from([*HARMLESS, "word ", " wo", "rk"]),
        ),
        min_size=1,
        max_size=24,
    ),
    sizes=st.lists(st.integers(1, 4), min_size=24, max_size=24),
)
def test_reads_of_whole_events_screen_alike(said: list[Delta], sizes: list[int]) -> None:
    """Most of these are not taken apart at all."""
    events = [*(delta.event() for delta in said), ends(), DONE]
    reads = []
    while events:
        size = sizes.pop() if sizes else 1
        reads.append(b"".join(events[:size]))
        events = events[size:]
    filter_, at_once = screen(follow=True), screen(follow=True)
    out = run(filter_, reads)
    run(at_once, [b"".join(reads)])

    assert whole(said) == texts(out)
    assert filter_.text_events == at_once.text_events
    assert filter_.text_length == at_once.text_length
    assert seen(filter_) == seen(at_once)


@settings(max_examples=200, deadline=None)
@given(said=deltas(PIECES), cuts=CUTS)
def test_events_keep_their_number_and_order(said: list[Delta], cuts: list[int]) -> None:
    stream = stream_of(said)
    expected = [c["choices"][0]["index"] for c in orjson.loads(orjson.dumps(chunks(stream)))]
    out = run(screen(), cut(stream, cuts))

    assert expected == [c["choices"][0]["index"] for c in orjson.loads(orjson.dumps(chunks(out)))]


@settings(max_examples=200, deadline=None)
@given(said=deltas(st.sampled_from(["a", "b c", "世", " 12", "é\n"])), cuts=CUTS)
def test_a_stream_with_nothing_to_hide_passes_byte_for_byte(
    said: list[Delta], cuts: list[int]
) -> None:
    stream = stream_of(said)

    assert stream == run(screen(), cut(stream, cuts))


@settings(max_examples=400, deadline=None)
@given(said=deltas(ALL_PIECES), cuts=CUTS)
def test_a_blocked_stream_shows_nothing_found_and_ends_once(
    said: list[Delta], cuts: list[int]
) -> None:
    filter_ = screen()
    out = run(filter_, cut(stream_of(said), cuts))

    for channel, text in texts(out).items():
        assert text in possible(said, channel)
    assert out.count(DONE) == 1
    assert out.endswith(DONE)
    assert (filter_.finish_reasons == ["content_filter"]) == filter_.blocked
