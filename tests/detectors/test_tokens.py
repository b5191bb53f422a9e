import pytest

from tidegate.detectors.tokens import estimate_tokens


def test_empty_text_has_none_and_any_other_has_one() -> None:
    assert estimate_tokens("") == 0
    assert all(
        estimate_tokens(text) >= 1
        for text in ("a", " ", "1", ".", "é", "你", "\U0001f600", "\ud800")
    )


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Please write a short note to the team about the meeting on Tuesday.", 12, 20),
        ("def add(a: int, b: int) -> int:\n    return a + b\n", 10, 24),
        ("请把下面这段话翻译成英文,并解释其中的语法。", 14, 30),
        ("Die Größe der Brücke überraschte alle Fußgänger.", 10, 20),
        ("4111 1111 1111 1111", 8, 16),
        ("\U0001f600\U0001f680", 1, 6),
    ],
)
def test_estimate_is_of_the_right_size(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high


def test_estimate_grows_with_the_text() -> None:
    assert estimate_tokens("word 你好 7, " * 10) < estimate_tokens("word 你好 7, " * 11)
