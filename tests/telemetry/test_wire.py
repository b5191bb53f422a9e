import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.telemetry.samples import attributes

from tidegate.telemetry import wire

scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=256),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), scalars)
def test_the_official_messages_read_every_attribute(key: str, value: wire.Value) -> None:
    assert {key: value} == attributes(Span.FromString(wire.attribute(key, value)))


@given(st.integers(0, 2**63 - 1))
def test_a_count_is_the_same_as_an_int_attribute(number: int) -> None:
    assert wire.attribute("k", number) == wire.count("k", number)


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
    assert attributes(Span.FromString(wire.seconds("k", 1_500_000_000))) == {"k": 1.5}


def test_the_head_of_a_span() -> None:
    encoded = wire.span_head(b"t" * 16, b"s" * 8, 5, 2**64 - 1) + wire.parent(b"p" * 8)
    span = Span.FromString(encoded + wire.trace_state("a=b") + wire.trace_state(""))

    assert (span.trace_id, span.span_id, span.parent_span_id) == (b"t" * 16, b"s" * 8, b"p" * 8)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (5, 2**64 - 1)
    assert span.trace_state == "a=b"


def test_a_time_before_1970_is_refused() -> None:
    with pytest.raises(struct.error):
        wire.span_head(b"", b"", -1, 0)


def test_long_and_broken_texts_are_made_fit() -> None:
    assert len(wire.clean("x" * 1000)) == 256
    assert wire.clean("na\u00efve") == "na\u00efve"
    assert wire.clean("a\udcffb") == "a?b"
    assert attributes(Span.FromString(wire.attribute("k\ud800", "v\ud800"))) == {"k?": "v?"}
