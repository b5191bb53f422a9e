"""The canonical bytes are RFC 8785, by an implementation that is not ours."""

from typing import Any

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from orjson import loads

from tidegate.audit import (
    Attempt,
    Closing,
    Find,
    Latency,
    Opening,
    Output,
    RecordError,
    Request,
    Route,
    Skip,
    Use,
)
from tidegate.audit.canonical import MAX_INT, canonical, check
from tidegate.audit.record import Stamp, encode

KEYS = st.from_regex(r"[a-z0-9_]{1,16}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.recursive(
    st.booleans() | st.integers(-MAX_INT, MAX_INT) | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=8))
def test_admitted_records_have_the_bytes_of_rfc_8785(record: dict[str, object]) -> None:
    encoded = canonical(dict(record))

    assert rfc8785.dumps(record) == encoded  # type: ignore[arg-type]  # JSON, but spelt `object`
    assert loads(encoded) == record


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, ANYTHING, max_size=3))
def test_whatever_the_guard_lets_through_is_canonical(record: dict[str, object]) -> None:
    try:
        check(record)
        encoded = canonical(dict(record))
    except RecordError:
        return

    assert rfc8785.dumps(loads(encoded)) == encoded


STAMPED = ("k", "log", "n", "t2", "v")
COUNTS = st.integers(-MAX_INT, MAX_INT)
WORDS = st.text(max_size=20)
FINDS = st.builds(
    Find,
    det=WORDS,
    verdict=st.sampled_from(["pass", "hit", "error", "timeout", "skip"]),
    n=COUNTS,
    spans=st.lists(st.tuples(COUNTS, COUNTS), max_size=3),
    src=WORDS,
)
ROUTES = st.builds(
    Route, req=WORDS, att=st.lists(st.builds(Attempt, ep=WORDS, code=COUNTS), max_size=2)
)
OPENINGS = st.builds(
    Opening,
    req=st.builds(Request, id=WORDS, ua=WORDS, path=WORDS, stream=st.booleans(), bytes=COUNTS),
    act=WORDS,
    t=COUNTS,
    find=st.lists(FINDS, max_size=3),
    skip=st.lists(st.builds(Skip, where=WORDS, kind=WORDS, bytes=COUNTS), max_size=3),
    route=ROUTES,
)
CLOSINGS = st.builds(
    Closing,
    ref=WORDS,
    code=COUNTS,
    st=st.sampled_from(["complete", "aborted"]),
    find=st.lists(FINDS, max_size=3),
    route=ROUTES,
    use=st.builds(Use, input=COUNTS, out=COUNTS, est=st.booleans()),
    lat=st.builds(Latency, total=COUNTS, ttft=COUNTS, audit=COUNTS),
    out=st.builds(Output, len=COUNTS, fin=st.lists(WORDS, max_size=2)),
)


@settings(max_examples=150, deadline=None)
@given(OPENINGS | CLOSINGS, st.integers(0, MAX_INT))
def test_decisions_and_completions_have_the_bytes_of_rfc_8785(
    record: Opening | Closing, n: int
) -> None:
    encoded = encode(record, Stamp(n, "0123456789ab", 5))
    fields = loads(encoded)

    assert rfc8785.dumps(fields) == encoded
    assert (fields["v"], fields["n"], fields["t2"]) == (1, n, 5)


@settings(max_examples=150, deadline=None)
@given(OPENINGS | CLOSINGS, st.data())
def test_no_value_of_a_wrong_type_gets_into_a_record(
    record: Opening | Closing, data: st.DataObject
) -> None:
    parts = [record, record.route, *record.find, *record.skip]
    part: Any = data.draw(st.sampled_from(parts))
    name = data.draw(st.sampled_from([f for f in part.__struct_fields__ if f not in STAMPED]))
    setattr(part, name, data.draw(ANYTHING))
    try:
        encoded = encode(record, Stamp(7, "0123456789ab", 5))
    except RecordError:
        return

    assert rfc8785.dumps(loads(encoded)) == encoded
