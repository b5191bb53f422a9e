"""YAML with places: what is read, where it stood, what is refused."""

import pytest

from tidegate.policies.problem import Mistakes, Place
from tidegate.policies.source import DEEPEST, LONGEST, Source, load


def mistakes(text: str) -> list[str]:
    with pytest.raises(Mistakes) as caught:
        load(text, "f.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_maps_and_lists_become_a_plain_tree() -> None:
    source = load("a:\n  b: [x, {c: y}]\nd: text\n", "f.yaml")

    assert source.tree == {"a": {"b": ["x", {"c": "y"}]}, "d": "text"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("on", "on"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("0x1f", "0x1f"),
        ("9" * 30, "9" * 30 + ""),
        (".nan", ".nan"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(written: str, value: object) -> None:
    read = load(f"a: {written}", "f").tree["a"]

    if written == "9" * 30:  # too long for a whole number that anyone means
        assert pytest.approx(read) == 1e30
    else:
        assert (value, type(value)) == (read, type(read))


def test_keys_are_texts_as_written() -> None:
    assert load("1: a\nnull: b\ntrue: c", "f").tree == {"1": "a", "null": "b", "true": "c"}


def test_an_empty_file_is_nothing() -> None:
    source = load("# nothing\n", "f")

    assert None is source.tree
    assert Place("f") == source.value(("a",))


def test_a_byte_order_mark_is_skipped() -> None:
    assert load("\ufeffa: 1", "f").tree == {"a": 1}


def test_places_count_from_one() -> None:
    source = load("a:\n  b: [x, yy]\n", "f")

    assert Place("f", 2, 3) == source.key(("a", "b"))
    assert Place("f", 2, 6) == source.value(("a", "b"))
    assert Place("f", 2, 10) == source.value(("a", "b", 1))


def test_what_stands_nowhere_has_the_place_around_it() -> None:
    source = load("a:\n  b: 1\n", "f")

    assert Place("f", 2, 3) == source.value(("a", "c", "d"))
    assert Place("f", 2, 3) == source.key(("a", "c"))


def test_a_key_that_stands_twice_is_a_mistake_with_both_lines() -> None:
    expected = ["f.yaml:3:1: the key 'a' stands here a second time, it is already on line 1, keep"]

    assert [expected[0] + " one of them"] == mistakes("a: 1\nb: 2\na: 3\n")


def test_an_alias_bomb_is_refused_before_it_unfolds() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    found = mistakes(bomb)

    assert len(found) == 9 + 16
    assert found[0] == "f.yaml:1:4: the anchor &a stands here, anchors are not read, remove it"
    assert found[2].startswith("f.yaml:2:8: the alias *a stands here, aliases are not read")


def test_an_alias_as_a_key_is_refused() -> None:
    anchor, key, alias = mistakes("a: &a x\n*a : y\n")

    assert "the anchor &a stands here" in anchor
    assert "a key is not a text" in key
    assert "the alias *a stands here" in alias


def test_tags_are_refused() -> None:
    [found] = mistakes("a: !!python/object:os.system x")

    assert found.startswith("f.yaml:1:4: the tag 'tag:yaml.org,2002:python/object:os.system'")


def test_a_map_as_a_key_is_refused() -> None:
    [found] = mistakes("? {a: b}\n: c\n")

    assert found == "f.yaml:1:3: a key is not a text, keys are names, write a name as the key"


def test_a_second_document_is_refused() -> None:
    [found] = mistakes("a: 1\n---\nb: 2\n")

    assert found.startswith("f.yaml:2:1: a second document begins here")


def test_deep_nesting_is_refused_without_recursion() -> None:
    load("[" * DEEPEST + "]" * DEEPEST, "f")
    [found] = mistakes("[" * 50_000)

    assert f"f.yaml:1:{DEEPEST + 1}: this is nested too deeply" in found


def test_a_long_file_is_refused_unread() -> None:
    [found] = mistakes("#" * (LONGEST + 1))

    assert found.startswith("f.yaml:1:1: the file is too long, it has 1048577 characters")


def test_broken_syntax_has_its_place() -> None:
    [found] = mistakes("a: 1\nb: [x\nc: 2\n")

    assert found.startswith("f.yaml:3:2: this is not valid YAML, expected ',' or ']'")


def test_a_forbidden_character_has_its_place() -> None:
    [found] = mistakes("a: 1\nbc: \x07\n")

    assert found.startswith("f.yaml:2:5: the character U+0007 stands here")


def test_syntax_after_other_mistakes_comes_with_them() -> None:
    assert len(mistakes("a: 1\na: 2\nb: ]\n")) == 2


def test_places_of_a_source_without_marks_name_the_file() -> None:
    assert Place("f") == Source("f", {}, {}, {}).key(("a",))
