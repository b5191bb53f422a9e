import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.proxy.dialects.base import Channel, Repeats, StreamEvent
from tidegate.proxy.dialects.openai import events
from tidegate.proxy.dialects.openai.repeat import RepeatReader
from tidegate.proxy.errors import EngineFailed

TEXTS = st.sampled_from(
    [
        "a",
        " the",
        "content",
        "",
        '"',
        "\\",
        "\n",
        "世界",
        "é",
        '"content":"',
        "\x7f",
        "tidegate-probe",
    ]
)
RAW = st.sampled_from([b'"', b"\\u0041", b"\\", b"\x01", b"\xff", b'","content":"', b"plain", b""])


def chunk(text: str, *, index: int = 0, name: str = "content", **more: object) -> bytes:
    choice = {"index": index, "delta": {name: text}, "finish_reason": None, **more}
    return json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode()


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    """Events that are nearly the same, and some whose bytes are not what they seem."""
    found = []
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.integers(0, 5))
        data = chunk(draw(TEXTS), name=draw(st.sampled_from(["content", "reasoning"])))
        if kind == 0:
            data = data.replace(b'"delta": {', b'"delta": {"refusal": "' + draw(RAW) + b'", ')
        elif kind == 1:
            data = chunk("MARK").replace(b"MARK", draw(RAW))
        elif kind == 2:
            data = chunk(draw(TEXTS), logprobs={"content": draw(TEXTS)})
        elif kind == 3:
            data = chunk(draw(TEXTS), index=draw(st.integers(0, 2)))
        elif kind == 4:
            data = chunk(draw(TEXTS), finish_reason="stop")
        found.append(data)
    return found


def said(reader: Callable[[bytes], StreamEvent], data: bytes) -> StreamEvent | str:
    try:
        event = reader(data)
    except EngineFailed as failure:
        return failure.code
    return StreamEvent(
        tuple(event.parts), tuple(event.finished), event.usage, event.usage_only, event.error
    )


@settings(max_examples=1500, deadline=None)
@given(stream=streams())
def test_every_event_reads_as_the_parser_reads_it(stream: list[bytes]) -> None:
    reader = RepeatReader()
    found = [said(reader.read, data) for data in stream]

    assert found == [said(events.read, data) for data in stream]


def framed(*data: bytes) -> bytes:
    return b"".join(b"data: %b\n\n" % one for one in data)


@settings(max_examples=1500, deadline=None)
@given(
    stream=st.lists(streams(), max_size=3).map(lambda parts: [e for part in parts for e in part]),
    sizes=st.lists(st.integers(1, 6), max_size=12),
    rest=RAW,
)
def test_what_a_read_repeats_is_what_the_parser_reads_in_it(
    stream: list[bytes], sizes: list[int], rest: bytes
) -> None:
    reader = RepeatReader()
    while stream:
        size = sizes.pop() if sizes else 1
        read, stream = stream[:size], stream[size:]
        raw = left = framed(*read) + (b"" if stream else rest)
        found: list[StreamEvent | str] = []
        parted = b""
        while left:
            singly, same, left = reader.split(left)
            assert singly or same
            parted += singly + (same.raw if same else b"")
            assert not (same or left) or singly[-2:] in (b"", b"\n\n")
            found += [
                said(reader.read, one.removeprefix(b"data: "))
                for one in singly.split(b"\n\n")[:-1]
            ]
            if same is not None:
                within = [one.removeprefix(b"data: ") for one in same.raw.split(b"\n\n")[:-1]]
                told = [said(events.read, one) for one in within]
                texts = [one.parts[0][1] for one in told if isinstance(one, StreamEvent)]
                assert told == [StreamEvent(((same.channel, text),)) for text in texts]
                assert (same.text, same.events) == ("".join(texts), len(within))
                found += told

        assert parted == raw
        assert found == [said(events.read, data) for data in read]


def test_events_that_repeat_are_not_taken_apart() -> None:
    reader = RepeatReader()
    reader.read(chunk("one"))
    same = framed(chunk(" two"), chunk(" three"), chunk("!"))
    other = framed(chunk("", finish_reason="stop"), b"[DONE]")

    assert reader.split(same) == (
        b"",
        Repeats(Channel(0, "content"), " two three!", 3, same),
        b"",
    )
    assert reader.split(b": ping\n\n" + same + other) == (
        b": ping\n\n",
        Repeats(Channel(0, "content"), " two three!", 3, same),
        other,
    )
    assert reader.split(same + b"data: {")[2] == b"data: {"


def test_of_a_first_read_only_the_beginning_is_read_singly() -> None:
    reader = RepeatReader()
    some = [chunk(text) for text in "abcdef"]
    first = reader.split(framed(*some))
    second = reader.split(framed(*some))

    assert first == (framed(*some[:4]), None, framed(*some[4:]))
    assert second == (framed(*some), None, b"")


@pytest.mark.parametrize(
    "raw",
    [
        framed(chunk("a", index=1)),
        b"data: %b\n" % chunk("a"),
        b"data: %b\r\n\r\n" % chunk("a"),
        framed(chunk("MARK").replace(b"MARK", b"\xe4\xb8")),
        framed(
            chunk("MARK").replace(b"MARK", b"\xe4\xb8"), chunk("MARK").replace(b"MARK", b"\x96")
        ),
        framed(chunk(""), chunk("b")),
        framed(chunk("a\n")),
        b"[DONE]",
    ],
)
def test_nothing_else_repeats(raw: bytes) -> None:
    reader = RepeatReader()
    reader.read(chunk("one"))

    assert reader.split(raw) == (raw, None, b"")


def test_data_of_several_lines_is_no_frame_on_the_wire() -> None:
    reader = RepeatReader()
    data = chunk("one").replace(b', "model"', b',\n"model"')
    reader.read(data)
    raw = b"data: %b\n\n" % data

    assert reader.split(raw * 9)[1] is None


def test_an_event_that_repeats_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = RepeatReader()
    reader.read(chunk("one"))

    def parsed(_: bytes) -> StreamEvent:
        raise AssertionError("parsed")

    monkeypatch.setattr(events, "read", parsed)

    assert reader.read(chunk(" two")).parts == ((Channel(0, "content"), " two"),)


def test_a_text_that_is_the_probe_makes_no_frame() -> None:
    """It stands twice in the event, so the probe would be found wherever it is put."""
    reader = RepeatReader()
    probe = "tidegate-probe"
    reader.read(chunk(probe, logprobs={"content": probe}))
    other = chunk(probe, logprobs={"content": "a"})

    assert reader.read(other).parts[0][1] == probe
    assert reader.split(framed(other))[1] is None


def test_a_text_written_with_escapes_makes_no_frame() -> None:
    reader = RepeatReader()
    first = reader.read(chunk("世").replace(b"\\u4e16", b"\\u4e16"))

    assert first.parts[0][1] == "世"
    assert reader.read(chunk("plain")).parts[0][1] == "plain"


def test_frames_are_not_sought_for_ever() -> None:
    reader = RepeatReader()
    for number in range(20):
        reader.read(chunk("x", created=number))

    assert reader.read(chunk("y", created=99)).parts[0][1] == "y"
