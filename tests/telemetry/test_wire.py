import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.telemetry.samples import attributes

from tidegate.telemetry import wire

_TEXT = wire.TextAttribute("k")

scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=256),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), scalars)
def test_the_official_messages_read_every_attribute(key: str, value: wire.Value) -> None:
    assert {key: value} == attributes(Span.FromString(wire.attribute(key, value)))


@given(st.one_of(st.integers(0, 2**15), st.integers(0, 2**63 - 1)))
def test_a_count_is_the_same_as_an_int_attribute(number: int) -> None:
    assert wire.attribute("k", number) == wire.CountAttribute("k").encode(number)


@pytest.mark.parametrize("size", range(9))
def test_a_count_at_the_edge_of_a_size_is_the_same_too(size: int) -> None:
    counted = wire.CountAttribute("k")
    edges = (1 << 7 * (size + 1)) - 1, (1 << 7 * size)

    assert [wire.attribute("k", n) for n in edges] == [counted.encode(n) for n in edges]


def test_a_negative_count_is_not_known_and_a_huge_one_refused() -> None:
    assert wire.CountAttribute("k").encode(-1) == b""
    with pytest.raises(OverflowError, match="64 bits"):
        wire.CountAttribute("k").encode(2**63)


@given(st.one_of(st.text(max_size=300), st.text("ab", max_size=300)))
def test_a_text_is_the_same_as_a_text_attribute(text: str) -> None:
    assert wire.attribute("k", text) == _TEXT.encode(text)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 257])
def test_a_text_of_any_size_is_framed_right(size: int) -> None:
    assert wire.attribute("k", "x" * size) == _TEXT.encode("x" * size)


@given(st.integers(0, 2**64 - 1))
def test_a_varint_is_protobufs(number: int) -> None:
    assert Span.FromString(b"\x60" + wire.varint(number)).dropped_events_count == number % 2**32


def test_a_list_of_texts_is_an_array() -> None:
    span = Span.FromString(wire.attribute("k", ["stop", "length"]))

    assert attributes(span) == {"k": ["stop", "length"]}


def test_a_key_value_stands_alone() -> None:
    message = KeyValue.FromString(wire.key_value("k", 5))

    assert (message.key, message.value.int_value) == ("k", 5)


def test_true_is_a_bool_not_an_int() -> None:
    span = Span.FromString(wire.attribute("k", value=True))

    assert span.attributes[0].value.WhichOneof("value") == "bool_value"


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_a_number_beyond_64_bits_is_refused(value: int) -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        wire.attribute("k", value)


def test_durations_are_seconds() -> None:
    duration = wire.DurationAttribute("k")

    assert attributes(Span.FromString(duration.encode(1_500_000_000))) == {"k": 1.5}
    assert duration.encode(-1) == b""


@given(*[st.one_of(st.just(-1), st.integers(0, 10**12))] * 4)
def test_four_durations_are_those_that_are_known(a: int, b: int, c: int, d: int) -> None:
    four = wire.FourDurations("a", "bb", "ccc", "dddd")
    values = {"a": a, "bb": b, "ccc": c, "dddd": d}
    singly = [wire.DurationAttribute(key).encode(ns) for key, ns in values.items()]

    assert b"".join(singly) == four.encode(a, b, c, d)


def test_the_fields_all_spans_have() -> None:
    own = wire.own(b"s" * 8, 5, 2**64 - 1)
    family = wire.trace(b"t" * 16) + wire.parent(b"p" * 8)
    span = Span.FromString(own + family + wire.trace_state("a=b") + wire.trace_state(""))

    assert (span.trace_id, span.span_id, span.parent_span_id) == (b"t" * 16, b"s" * 8, b"p" * 8)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (5, 2**64 - 1)
    assert span.trace_state == "a=b"
    assert len(own) == wire.OWN_SIZE


def test_an_id_of_another_size_cannot_break_the_frame() -> None:
    span = Span.FromString(wire.trace(b"t") + wire.parent(b"p" * 9) + wire.own(b"", 1, 2))

    assert (len(span.trace_id), len(span.parent_span_id), len(span.span_id)) == (16, 8, 8)


def test_a_time_before_1970_is_refused() -> None:
    with pytest.raises(struct.error):
        wire.own(b"", -1, 0)


def test_long_and_broken_texts_are_made_fit() -> None:
    assert len(wire.clean("x" * 1000)) == 256
    assert wire.clean("na\u00efve") == "na\u00efve"
    assert wire.clean("a\udcffb") == "a?b"
    assert attributes(Span.FromString(wire.attribute("k\ud800", "v\ud800"))) == {"k?": "v?"}
