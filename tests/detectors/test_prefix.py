import re

import pytest
import re2

from tidegate.detectors.prefix import shape

BODIES = (
    r"abc",
    r"a[b-d]e",
    r"[^a]b",
    r"[^ab]c",
    r"a{2,4}b",
    r"(?:ab|cd|c){1,3}e?",
    r"a?b?c",
    r"(a|b(c|d))e",
    r"\d{3}[\s\w]\.\-x",
    r"é世{1,2}😀",
    r"x(?:a|)y",
    r"a{0,3}b{20,30}c",
    r"a{0,30}b",
    r"a{1,30}b",
    r"(?:x{0}|y)z",
)
FORBIDDEN = {
    r"^a": "AT",
    r"a$": "AT",
    r"\ba": "AT",
    r"a(?=b)": "ASSERT",
    r"(?<=a)b": "ASSERT",
    r"a(?!b)": "ASSERT_NOT",
    r"a+?b": "MIN_REPEAT",
    r"a{1,3}?": "MIN_REPEAT",
    r"a{1,3}+": "POSSESSIVE_REPEAT",
    r"(?>a)": "ATOMIC_GROUP",
    r"(a)\1": "GROUPREF",
    r"(a)(?(1)b|c)": "GROUPREF_EXISTS",
    r"a.": "ANY",
    r"[\D]": "CATEGORY_NOT_DIGIT",
    r"\W": "CATEGORY_NOT_WORD",
    r"(?i)a": "flags",
    r"(?i:a)": "flags",
    r"(?-i:a)": "flags",
    r"a*": "upper bound",
    r"(?:ab)+": "upper bound",
    r"": "empty",
    r"a?": "empty",
    r"a|": "empty",
    r"()": "empty",
    r"a{0}": "empty",
    r"(a": "no regular expression",
    r"[": "no regular expression",
    r"a**": "no regular expression",
}


@pytest.mark.parametrize("body", FORBIDDEN)
def test_what_cannot_be_followed_is_refused_with_a_reason(body: str) -> None:
    with pytest.raises(ValueError, match=FORBIDDEN[body]):
        shape(body)


def test_nesting_beyond_the_stack_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        shape("(" * 5000 + "a" + ")" * 5000)


def beginnings(body: str, text: str) -> list[str]:
    """All beginnings of the text, if the body matches it."""
    assert re.fullmatch(body, text, re.ASCII)
    return [text[:end] for end in range(1, len(text) + 1)]


EXAMPLES = {
    r"abc": ["abc"],
    r"a[b-d]e": ["ade"],
    r"[^a]b": ["xb", "\nb", "世b"],
    r"[^ab]c": ["xc"],
    r"a{2,4}b": ["aab", "aaaab"],
    r"(?:ab|cd|c){1,3}e?": ["abcdc", "cabcde", "c"],
    r"a?b?c": ["c", "ac", "bc", "abc"],
    r"(a|b(c|d))e": ["ae", "bce", "bde"],
    r"\d{3}[\s\w]\.\-x": ["123 .-x", "123a.-x"],
    r"é世{1,2}😀": ["é世😀", "é世世😀"],
    r"x(?:a|)y": ["xy", "xay"],
    r"a{0,3}b{20,30}c": ["b" * 20 + "c", "aaa" + "b" * 30 + "c"],
    r"a{0,30}b": ["b", "a" * 30 + "b"],
    r"a{1,30}b": ["ab", "a" * 30 + "b"],
    r"(?:x{0}|y)z": ["z", "yz"],
}


@pytest.mark.parametrize("body", BODIES)
def test_every_beginning_of_a_match_counts_as_begun(body: str) -> None:
    derived = shape(body)

    for text in EXAMPLES[body]:
        assert re2.fullmatch(derived.whole, text)
        for beginning in beginnings(body, text):
            assert re2.fullmatch(derived.begun, beginning), beginning


@pytest.mark.parametrize("body", BODIES)
def test_what_begins_no_match_does_not_count_as_begun(body: str) -> None:
    begun = shape(body).begun

    assert not re2.fullmatch(begun, "")
    assert not re2.fullmatch(begun, "#~")


def test_short_repeats_are_counted_and_long_ones_not() -> None:
    short, long = shape("a{1,16}b").begun, shape("a{1,18}b").begun

    assert not re2.fullmatch(short, "a" * 17)
    assert re2.fullmatch(long, "a" * 99)


@pytest.mark.parametrize(
    ("body", "longest"),
    [("abc", 3), ("a{2,40}b?", 41), ("(?:ab|c){3}", 6), ("😀世", 2), ("a{0,1500}b", 1501)],
)
def test_the_longest_match_is_counted_in_characters(body: str, longest: int) -> None:
    assert longest == shape(body).longest


def test_repeats_over_re2s_limit_lose_their_bound() -> None:
    expected = ["(?:a)*b", "(?:a)+b", "(?:a){2,}b", "(?:a){0,1000}b"]

    assert expected == [
        shape(body).whole for body in ("a{0,1001}b", "a{1,1001}b", "a{2,1001}b", "a{0,1000}b")
    ]


@pytest.mark.parametrize(
    "body", ["a{1,1001}", "(?:x|(ya{0,2000}))b", "(?:(?:a{0,1200}b){1,2}){1,2}"]
)
def test_a_repeat_over_re2s_limit_makes_a_body_loose(body: str) -> None:
    assert shape(body).loose


@pytest.mark.parametrize("body", ["abc", "a{1,1000}", "(?:x|(y{0,1000}))b"])
def test_other_bodies_are_not_loose(body: str) -> None:
    assert not shape(body).loose
