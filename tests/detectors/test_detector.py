from tidegate.detectors import Detector, Finding, Segment, Source, Trust


class Words:
    """The least that is a detector; mypy compares it with the protocol."""

    name = "words"
    version = "1"
    kinds = frozenset({"word"})

    def find(self, segment: Segment) -> list[Finding]:
        at = segment.text.find("word", segment.start)
        return [Finding("word", at, at + 4, 1.0, "word")] if at >= 0 else []


def test_any_object_of_the_right_shape_is_a_detector() -> None:
    detector: Detector = Words()
    segment = Segment("a word", (), Source.USER, Trust.CALLER)

    assert [Finding("word", 2, 6, 1.0, "word")] == detector.find(segment)
