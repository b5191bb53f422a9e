import pytest

from tidegate.proxy.errors import EngineFailed
from tidegate.proxy.stream.sse import LIMIT, EventReader

Event = tuple[bytes, bytes | None]


def read(*pieces: bytes) -> list[Event]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)]


def test_events_come_with_their_bytes_and_their_data() -> None:
    expected = [(b"data: a\n\n", b"a"), (b"data: b\n\n", b"b")]

    assert expected == read(b"data: a\n\ndata: b\n\n")


@pytest.mark.parametrize(
    ("block", "data"),
    [
        (b"data:a", b"a"),
        (b"data:  a", b" a"),
        (b"data:", b""),
        (b"data: a\ndata: b", b"a\nb"),
        (b"data: a\r\ndata:b\rdata: c", b"a\nb\nc"),
        (b"event: x\ndata: a\nid: 1", b"a"),
        (b"\xef\xbb\xbfdata: a", b"a"),
        (b": a comment", None),
        (b"event: x", None),
        (b" data: a", None),
        (b"database: a", None),
        (b"", None),
    ],
)
def test_data_is_what_the_standard_says(block: bytes, data: bytes | None) -> None:
    assert [(block + b"\n\n", data)] == read(block + b"\n\n")


@pytest.mark.parametrize(
    "end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r\n", b"\r\n\n", b"\n\r", b"\r\n\r"]
)
def test_any_two_line_ends_finish_an_event(end: bytes) -> None:
    events = read(b"data: a" + end + b"data: b\n\n")

    assert [data for _, data in events] == [b"a", b"b"]
    assert b"data: a" + end + b"data: b\n\n" == b"".join(raw for raw, _ in events)


def test_half_an_event_is_kept_as_rest() -> None:
    reader = EventReader()
    events = reader.feed(b"data: a\n\ndata: b\n")

    assert events == [(b"data: a\n\n", b"a")]
    assert reader.rest == b"data: b\n"
    assert reader.feed(b"\n") == [(b"data: b\n\n", b"b")]
    assert reader.rest == b""


def test_half_a_crlf_waits_for_its_other_half() -> None:
    reader = EventReader()

    assert reader.feed(b"data: a\r\n\r") == []
    assert reader.feed(b"\n") == [(b"data: a\r\n\r\n", b"a")]


def test_a_stream_of_crs_ends_without_waiting() -> None:
    assert read(b"data: a\r\r") == [(b"data: a\r\r", b"a")]


def test_an_event_over_the_limit_is_refused() -> None:
    reader = EventReader()

    assert reader.feed(b"data: " + b"x" * (LIMIT - 6)) == []
    with pytest.raises(EngineFailed, match="longer than") as caught:
        reader.feed(b"x")
    assert caught.value.code == "bad_stream"
