import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.proxy.errors import BadRequest
from tidegate.proxy.jsons import MOST_CONTAINERS, decode, encode

BIG = "9" * 50


@pytest.mark.parametrize("body", [b'{"a":1}', b' {"a" : 1} ', b'{"\\u0061":1}', b'\n{"a":1}'])
def test_a_body_is_read_however_it_is_written(body: bytes) -> None:
    assert decode(body, 10) == {"a": 1}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the body is empty"),
        (b" \n", "the body is empty"),
        (b"{", "line 1, column"),
        (b'{\n"a": nope}', "line 2, column"),
        (b"NaN", "not valid JSON"),
        (b'{"a":Infinity}', "not valid JSON"),
        (b'{"a":-Infinity}', "not valid JSON"),
        (b'{"a":1e400}', "not valid JSON"),
        (b'{"a":"\xff"}', "not valid JSON"),
        (b'{"a":"\\ud800"}', "not valid JSON"),
        (b'{"a":"\xed\xa0\x80"}', "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"\x00", "not valid JSON"),
        ('{"a":1}'.encode("utf-16"), "not valid JSON"),
        (b'{"a":1}{"a":1}', "not valid JSON"),
        (b"{'a':1}", "not valid JSON"),
        (b'{"a":1,}', "not valid JSON"),
        (b'{"a":' + b"9" * 5000 + b"}", "not valid JSON"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(body: bytes, said: str) -> None:
    with pytest.raises(BadRequest, match=said) as caught:
        decode(body, 10)
    assert caught.value.code == "invalid_json"


def test_the_body_is_not_quoted_in_the_refusal() -> None:
    with pytest.raises(BadRequest) as caught:
        decode(b'{"prompt": "my secret', 10)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "body", [b'{"a":1,"a":1}', b'{"a":{"b":1,"c":2,"b":3}}', b'[{"a":1,"\\u0061":2}]']
)
def test_a_repeated_name_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest, match="same name twice") as caught:
        decode(body, 10)
    assert caught.value.code == "duplicate_key"


@pytest.mark.parametrize("number", [str(2**63), str(2**64), f"-{2**64}", BIG])
def test_large_integers_stay_exact(number: str) -> None:
    body = f'{{"seed":{number},"text":"é世"}}'.encode()
    value = decode(body, 10)

    assert int(number) == value["seed"]
    assert body == encode(value)


@pytest.mark.parametrize("depth", [1, 3, 10, 300])
@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_limited_exactly(depth: int, begin: bytes, end: bytes) -> None:
    inside = begin * depth + b"1" + end * depth

    assert inside == encode(decode(inside, depth))
    with pytest.raises(BadRequest) as caught:
        decode(begin + inside + end, depth)
    assert caught.value.code == "nested_too_deep"


def test_nesting_beyond_any_parser_is_refused() -> None:
    with pytest.raises(BadRequest):
        decode(b"[" * 100_000, 100_000)


def test_nesting_beyond_the_exact_parser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*args: object, **options: object) -> None:
        raise RecursionError

    monkeypatch.setattr(json, "loads", too_deep)

    with pytest.raises(BadRequest) as caught:
        decode(b"[ " * 300 + b"]" * 300, 1000)
    assert caught.value.code == "invalid_json"


def test_brackets_in_a_text_are_no_nesting() -> None:
    text = "[{" * 50

    assert text == decode(json.dumps(text).encode(), 3)
    assert [text, {}] == decode(json.dumps([text, {}]).encode(), 2)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('abé"\\'), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.copysign(1, a) == math.copysign(1, b) and a == b
    return type(a) is type(b) and bool(a == b)


@settings(max_examples=300, deadline=None)
@given(value=VALUES, spaced=st.booleans(), ascii_=st.booleans())
def test_however_written_a_value_is_read_the_same(
    value: Any, *, spaced: bool, ascii_: bool
) -> None:
    separators = None if spaced else (",", ":")
    body = json.dumps(value, ensure_ascii=ascii_, separators=separators).encode()

    assert same(json.loads(body), decode(body, 100))


@settings(max_examples=300, deadline=None)
@given(value=VALUES)
def test_what_was_read_is_written_to_the_same_value(value: Any) -> None:
    assert same(value, decode(encode(decode(json.dumps(value).encode(), 100)), 100))


def test_a_body_of_very_many_lists_is_refused_before_it_is_walked() -> None:
    body = b"[" + b",".join([b"[]"] * (MOST_CONTAINERS + 1)) + b"]"

    with pytest.raises(BadRequest) as refused:
        decode(body, 100)

    assert refused.value.code == "too_many_values"
