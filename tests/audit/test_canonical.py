import pytest
import rfc8785
from orjson import loads

from tidegate.audit import RecordError
from tidegate.audit.canonical import MAX_BYTES, MAX_INT, canonical, check


def test_members_are_sorted_and_nothing_is_padded() -> None:
    assert canonical({"b": [1, True], "a": "é\u2028\x7f\n"}) == (
        b'{"a":"\xc3\xa9\xe2\x80\xa8\x7f\\n","b":[1,true]}'
    )


def test_every_escape_is_that_of_rfc_8785() -> None:
    record = {"a": "".join(map(chr, range(0x20))) + '"\\/<>&\x7f\x80\u2028\U0001f600'}

    assert rfc8785.dumps(record) == canonical(record)


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        None,
        MAX_INT + 1,
        -MAX_INT - 1,
        b"x",
        {"Key": 1},
        {"k" * 17: 1},
        {"é": 1},
        {1: 1},
        {"": 1},
        [{"a": (0.5,)}],
        {1, 2},
    ],
)
def test_what_readers_would_write_differently_is_refused(value: object) -> None:
    with pytest.raises(RecordError):
        check({"a": value})


def test_the_extremes_are_admitted() -> None:
    check({"a": [MAX_INT, -MAX_INT, True, "", (), {}], "k_9": {"z" * 16: 0}})


def test_deep_nesting_is_refused_before_it_hurts() -> None:
    value: object = 1
    for _ in range(10_000):
        value = [value]

    with pytest.raises(RecordError, match="nested"):
        check({"a": value})


def test_lone_surrogates_are_replaced_and_counted() -> None:
    record = {"ua": "a\ud800b", "list": ["\udfff\udfff", "ok"], "tuple": ("\ud800",), "n": 1}

    assert loads(canonical(record)) == {
        "ua": "a\ufffdb",
        "list": ["\ufffd\ufffd", "ok"],
        "tuple": ["\ufffd"],
        "n": 1,
        "mend": 3,
    }


def test_what_is_no_json_and_no_text_fault_is_refused() -> None:
    with pytest.raises(RecordError):
        canonical({"a": object()})


def test_a_long_record_is_shortened_and_says_how_often() -> None:
    record = {"find": [{"spans": [[i, i + 1] for i in range(10_000)]}], "ua": "x" * 40_000}
    encoded = canonical(record)

    shortened = loads(encoded)

    assert len(encoded) <= MAX_BYTES
    assert shortened["trunc"] == 2
    assert [[i, i + 1] for i in range(256)] == shortened["find"][0]["spans"]
    assert shortened["ua"] == "x" * 2048


def test_a_record_of_very_many_long_parts_is_shortened_harder() -> None:
    record = {"find": [{"det": "x" * 3000, "spans": [[1, 2]] * 300} for _ in range(300)]}

    assert len(canonical(record)) <= MAX_BYTES


def test_a_record_that_stays_too_long_is_refused() -> None:
    with pytest.raises(RecordError, match="larger"):
        canonical({f"k{i}": "x" * 100 for i in range(1000)})
