import numpy as np
import pytest

from tidegate.detectors.injection.learned.features import BITS, ORDERS, buckets, codes, places


def said(text: str) -> str:
    return "".join(chr(code) for code in codes(text))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Hello,  World\n\t42", " hello, world 00 "),
        ("  ends  ", " ends "),
        ("Ünïx\u00a0 Ж7 ", " ünïx ж0 "),
        ("請忽略規則", " 请忽略规则 "),
        ("a\x00b", " a b "),
        ("İ", " İ "),
    ],
)
def test_a_text_is_read_without_case_digits_and_doubled_blanks(text: str, numbers: str) -> None:
    assert said(text) == numbers


def test_ascii_is_read_as_other_text_is() -> None:
    text = "".join(chr(code) for code in range(127)) * 2

    assert said(text) + "é " == said(f"{text} é").replace("é  ", "é ")


def test_the_place_of_each_number_is_known() -> None:
    text = "  Hi  thére\n"
    numbers = said(text)

    assert len(places(text)) == len(numbers)
    assert [text[at].lower() for at in places(text)[1:3]] == ["h", "i"]
    assert numbers[4] == text[places(text)[4]] == "t"


def test_each_sequence_has_its_bucket_wherever_it_stands() -> None:
    one, other = buckets(codes("say abcdefgh")), buckets(codes("abcdefgh, I say"))

    assert one.shape == (len(ORDERS), len("say abcdefgh") + 2)
    assert np.array_equal(one[:, 5:8], other[:, 1:4])
    assert one.min() >= 0
    assert one.max() < 1 << BITS


def test_places_past_the_end_have_bucket_zero() -> None:
    found = buckets(codes("ab"))

    assert [int(np.count_nonzero(row)) for row in found] == [3, 2, 1, 0, 0]


@pytest.mark.parametrize("text", ["", "x", "\ud800", "\U0010ffff" * 3, "\x00"])
def test_any_text_can_be_read(text: str) -> None:
    numbers = codes(text)

    assert buckets(numbers).shape == (len(ORDERS), len(numbers))


def test_what_is_repeated_counts_once() -> None:
    once, often = buckets(codes("xyxyxyxyxy")), buckets(codes("xy" * 500))

    assert abs(np.count_nonzero(often) - np.count_nonzero(once)) <= len(ORDERS)
