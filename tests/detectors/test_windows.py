from random import Random

import pytest

from tidegate.detectors import Finding, Pattern, Segment, Source, Trust
from tidegate.detectors import windows as subject
from tidegate.detectors.scanner import Scanner
from tidegate.detectors.secret_patterns import SECRET_PATTERNS
from tidegate.detectors.unwrap import MAX_CHARACTERS
from tidegate.detectors.windows import AFTER, OWN, Window, windows

SCANNER = Scanner(
    [
        Pattern("digits", "test.digits", r"\d{4,6}", 0.9, left=r"\d", right=r"\d"),
        Pattern("named", "test.named", r"x[a-z]{3}", 0.9, context="name"),
    ]
)


def text(said: str) -> Segment:
    return Segment(said, ("messages", 0), Source.USER, Trust.CALLER)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that are barely large enough for the patterns above."""
    monkeypatch.setattr(subject, "OWN", 50)
    monkeypatch.setattr(subject, "BEFORE", 53)
    monkeypatch.setattr(subject, "AFTER", 10)


def test_a_text_that_is_not_long_stays_whole() -> None:
    segment = text("x" * (OWN + AFTER))
    [window] = windows(segment)

    assert window == Window(segment, 0, 0, OWN + AFTER)
    assert window.segment is segment


def test_windows_show_what_their_part_needs_and_their_parts_make_the_whole() -> None:
    segment = text("x" * (2 * OWN + AFTER + 1))
    first, second, last = windows(segment)

    assert [(w.start, w.end) for w in (first, second, last)] == [
        (0, OWN),
        (OWN, 2 * OWN),
        (2 * OWN, 2 * OWN + AFTER + 1),
    ]
    assert [(w.base, w.base + len(w.segment.text)) for w in (first, second, last)] == [
        (0, OWN + AFTER),
        (OWN - subject.BEFORE, 2 * OWN + AFTER),
        (2 * OWN - subject.BEFORE, 2 * OWN + AFTER + 1),
    ]
    assert second.segment.where == segment.where


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(20))
def test_windows_find_what_the_whole_has(seed: int) -> None:
    random = Random(seed)
    pieces = ("1234", "12345678", "xabc", "name ", "ab ", "é", " ")
    segment = text("".join(random.choice(pieces) for _ in range(200)))
    found = [f for w in windows(segment) for f in w.own(SCANNER.find(w.segment))]

    assert len(list(windows(segment))) > 5
    assert SCANNER.find(segment) == found


def test_what_was_decoded_is_told_by_each_window_it_touches() -> None:
    window = Window(text(""), 100, 110, 120)
    decoded = [Finding("k", start, end, 0.5, "r", "url") for start, end in ((0, 10), (0, 11))]
    plain = [Finding("k", start, start + 5, 0.5, "r") for start in (9, 10, 19, 20)]

    assert [(f.start, f.end, f.layer) for f in window.own(decoded)] == [(100, 111, "url")]
    assert [f.start for f in window.own(plain)] == [110, 119]


def test_the_longest_match_fits_behind_a_windows_own_part() -> None:
    assert Scanner(SECRET_PATTERNS).reach < AFTER
    assert MAX_CHARACTERS // 3 * 4 < AFTER
