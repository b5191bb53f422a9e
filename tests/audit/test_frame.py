import orjson
import pytest

from tidegate.audit.frame import MAX_LINE, framed, record_of, unframed
from tidegate.audit.tree import leaf_hash

RECORD = b'{"k":"x","n":1}'
LINE = framed(RECORD, leaf_hash(RECORD))


def test_a_line_is_json_and_holds_its_record() -> None:
    assert {"c": leaf_hash(RECORD)[:4].hex(), "r": {"k": "x", "n": 1}} == orjson.loads(LINE)
    assert record_of(LINE) == RECORD
    assert unframed(LINE) == leaf_hash(RECORD)


def test_the_longest_record_fits_the_longest_line() -> None:
    record = b"x" * 32_768

    assert len(framed(record, leaf_hash(record))) == MAX_LINE - 64


@pytest.mark.parametrize("cut", range(len(LINE)))
def test_no_part_of_a_line_is_a_line(cut: int) -> None:
    assert unframed(LINE[:cut]) is None


def test_every_flipped_bit_is_noticed() -> None:
    for place in range(len(LINE)):
        for bit in range(8):
            damaged = bytearray(LINE)
            damaged[place] ^= 1 << bit

            assert unframed(bytes(damaged)) is None
