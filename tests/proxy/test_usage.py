from tests.proxy.exchanges import exchange, reading, text

from tidegate.detectors.tokens import estimate_tokens
from tidegate.proxy.dialects.base import Usage
from tidegate.proxy.usage import estimated

WORDS = "the quick brown fox"


def test_texts_of_both_directions_are_estimated() -> None:
    x = exchange()
    x.reading = reading(text(WORDS), text(WORDS))
    count = estimate_tokens(WORDS)

    assert Usage(2 * count, count) == estimated(x, [text(WORDS)])


def test_without_texts_there_are_no_tokens() -> None:
    assert Usage(0, 0) == estimated(exchange(), [])
