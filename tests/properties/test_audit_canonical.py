"""The canonical bytes are RFC 8785, by an implementation that is not ours."""

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from orjson import loads

from tidegate.audit import RecordError
from tidegate.audit.canonical import MAX_INT, canonical, check

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
