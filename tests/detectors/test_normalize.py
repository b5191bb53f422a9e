from hypothesis import given
from hypothesis import strategies as st

from tidegate.detectors.normalize import normalize, skeleton

ODD = st.text(
    st.one_of(
        st.sampled_from("a1 é你が한ﬁ½ﷺ，．\u0301\u0308\u200b\u200d\ufe0f\u202e\u00ad\u3164"),  # noqa: RUF001
        st.sampled_from("\U000e0041\U000e0062\U000e007f\ud800іοАß\u1100\u1161\U0001f3f4"),  # noqa: RUF001
        st.characters(),
    ),
    max_size=30,
)


def test_ascii_is_not_copied() -> None:
    text = "Plain text, 100 % ASCII."
    view = normalize(text)

    assert view.text is text
    assert view.is_identity
    assert view.span(3, 9) == (3, 9)


def test_same_length_changes_keep_the_identity() -> None:
    view = normalize("你好，世界１２")  # noqa: RUF001

    assert view.text == "你好,世界12"
    assert view.is_identity


def test_invisible_characters_are_dropped_and_covered() -> None:
    view = normalize("ig\u200bno\u00adre")

    assert view.text == "ignore"
    assert not view.is_identity
    assert view.span(0, 6) == (0, 8)
    assert view.span(2, 4) == (3, 5)


def test_ligature_is_covered_by_each_of_its_letters() -> None:
    view = normalize("aﬁx")

    assert view.text == "afix"
    assert view.span(1, 2) == (1, 2)
    assert view.span(2, 3) == (1, 2)
    assert view.span(3, 4) == (2, 3)


def test_combining_mark_is_composed_with_its_letter() -> None:
    view = normalize("cafe\u0301 x")

    assert view.text == "café x"
    assert view.span(3, 4) == (3, 5)


def test_text_in_tags_becomes_visible_and_stands_apart() -> None:
    view = normalize("ok\U000e0061\U000e0062")

    assert view.text == "ok ab "
    assert view.span(3, 5) == (2, 4)


def test_single_tag_joins_its_neighbours() -> None:
    assert normalize("o\U000e0061k").text == "oak"


def test_skeleton_reads_homoglyphs_accents_and_blanks() -> None:
    assert skeleton("іgnörе\u2003аll").text == "ignore all"  # noqa: RUF001


def test_normal_form_keeps_other_scripts() -> None:
    assert normalize("привет naïve").text == "привет naïve"


def test_skeleton_keeps_kana_and_hangul() -> None:
    assert skeleton("が한").text == "が한"


@given(ODD)
def test_every_span_covers_its_origin(text: str) -> None:
    for view in (normalize(text), skeleton(text)):
        last = 0
        for index in range(len(view.text)):
            start, end = view.span(index, index + 1)

            assert 0 <= start < end <= len(text)
            assert last <= start
            last = start
            if view.text[index] == text[start]:
                assert view.text[index] in text[start:end]


@given(ODD, st.integers(0, 30), st.integers(1, 30))
def test_span_is_the_hull_of_its_characters(text: str, start: int, length: int) -> None:
    view = normalize(text)
    end = min(start + length, len(view.text))
    if start >= end:
        return
    parts = [view.span(i, i + 1) for i in range(start, end)]

    assert (parts[0][0], parts[-1][1]) == view.span(start, end)


@given(ODD)
def test_unchanged_characters_map_to_themselves(text: str) -> None:
    marked = f"BEGIN{text} END"
    view = normalize(marked)

    assert view.span(0, 4) == (0, 4)
    assert (len(marked) - 3, len(marked)) == view.span(len(view.text) - 3, len(view.text))
