"""Events are the same however the bytes of a stream are cut."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.proxy.stream.sse import EventReader

LINES = st.sampled_from(
    [
        *(b"data: a", b"data:b", b"data:", b"data: {}", b"data: \xe4\xb8\x96", b"data: \xff"),
        *(b": comment", b"event: x", b"id: 1", b"", b"", b"", b"\xef\xbb\xbfdata: c", b"data"),
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@st.composite
def one_kind_of_end(draw: st.DrawFn) -> bytes:
    end = draw(ENDS)
    return b"".join(line + end for line in draw(st.lists(LINES, max_size=16)))


@st.composite
def any_ends(draw: st.DrawFn) -> bytes:
    return b"".join(line + draw(ENDS) for line in draw(st.lists(LINES, max_size=16)))


STREAMS = one_kind_of_end() | any_ends() | st.binary(max_size=40)
CUTS = st.lists(st.integers(0, 300), max_size=20)


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    marks = sorted({0, len(stream), *(c % (len(stream) + 1) for c in cuts)})
    return [stream[a:b] for a, b in pairwise(marks)]


def read(pieces: list[bytes]) -> tuple[list[tuple[bytes, bytes | None]], bytes]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)], reader.rest


def with_data(pieces: list[bytes]) -> list[bytes]:
    return [data for _, data in read(pieces)[0] if data is not None]


@settings(max_examples=1000, deadline=None)
@given(stream=STREAMS, cuts=CUTS)
def test_any_cut_gives_the_same_data(stream: bytes, cuts: list[int]) -> None:
    assert with_data([stream]) == with_data(cut(stream, cuts))


@settings(max_examples=300, deadline=None)
@given(stream=STREAMS)
def test_one_byte_at_a_time_gives_the_same_data(stream: bytes) -> None:
    assert with_data([stream]) == with_data([bytes([byte]) for byte in stream])


@settings(max_examples=500, deadline=None)
@given(stream=STREAMS, cuts=CUTS)
def test_no_byte_is_lost_or_changed(stream: bytes, cuts: list[int]) -> None:
    events, rest = read(cut(stream, cuts))

    assert stream == b"".join(raw for raw, _ in events) + rest
