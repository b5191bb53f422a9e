from tidegate.detectors import Finding, Segment, Source, Trust
from tidegate.detectors.secrets import Secrets
from tidegate.detectors.testing import check_detector

KEY = "AKIAIOSFODNN7EXAMPLE"


def _segment(text: str, start: int = 0) -> Segment:
    return Segment(text, (), Source.USER, Trust.CALLER, start)


def test_detector_keeps_to_the_conformance_kit() -> None:
    check_detector(Secrets(), [f"key {KEY}", f"密钥{KEY}"])


def test_plain_text_gives_what_the_scanner_gives() -> None:
    secrets = Secrets()
    segment = _segment(f"my key is {KEY}")

    assert [Finding("secret.aws_key", 10, 30, 0.95, "secret.aws_access_key_id")] == secrets.find(
        segment
    )
    assert secrets.scanner.find(segment) == secrets.find(segment)


def test_key_with_invisible_characters_is_found_where_it_stands() -> None:
    broken = f"{KEY[:7]}\u200b{KEY[7:]}"
    (found,) = Secrets().find(_segment(f"é {broken}"))

    assert (2, 2 + len(broken)) == (found.start, found.end)


def test_key_before_the_start_is_left_out() -> None:
    assert Secrets().find(_segment(f"é {KEY} then", 5)) == []
    assert Secrets().find(_segment(f"e {KEY} then", 5)) == []


def test_kinds_are_those_of_the_patterns() -> None:
    assert Secrets().scanner.kinds == Secrets().kinds
