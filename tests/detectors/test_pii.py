import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.detectors import Finding, Segment, Source, Trust
from tidegate.detectors.pii import PII
from tidegate.detectors.testing import check_detector

PIECES = (
    "a@b.com ",
    "4111 1111 1111 1111 ",
    "DE89 3704 0044 0532 0130 00 ",
    "212-555-0143 ",
    "11010519491231002X",
    "536-90-4399 ",
    "call ",
    "1234567 ",
    "２０",  # noqa: RUF001
    "电话",
    "-",
    "\u200b",
    "x",
)


@pytest.fixture(scope="module")
def pii() -> PII:
    return PII()


def _segment(text: str, start: int = 0) -> Segment:
    return Segment(text, (), Source.USER, Trust.CALLER, start)


def test_detector_keeps_to_the_conformance_kit(pii: PII) -> None:
    check_detector(pii, ["write to a@b.com", "身份证１１０１０５１９４９１２３１００２Ｘ"])


def test_full_width_number_is_found_where_it_stands(pii: PII) -> None:
    assert [Finding("pii.cn_id", 3, 21, 0.98, "pii.cn_id.eighteen")] == pii.find(
        _segment("身份证１１０１０５１９４９１２３１００２Ｘ。")
    )


def test_number_with_invisible_characters_is_covered_whole(pii: PII) -> None:
    (found,) = pii.find(_segment("4111\u200b1111 1111\u200d1111!"))

    assert (found.start, found.end) == (0, 19)


def test_number_before_the_start_is_left_out(pii: PII) -> None:
    text = "a@b.com and c@d.com"

    assert [found.start for found in pii.find(_segment(text, 8))] == [12]


def test_text_without_candidates_never_reaches_presidio(pii: PII) -> None:
    bare = PII()
    del bare._analyzer

    assert bare.find(_segment("An ordinary sentence of the year 2026.")) == []


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_presidio_path_finds_exactly_what_the_scanner_finds(pii: PII, text: str) -> None:
    if text.isascii():
        assert pii.scanner.find(_segment(text)) == pii.find(_segment(text))
    assert pii.scanner.sees(text.encode()) or not pii.scanner.find(_segment(text))


def test_importing_the_module_does_not_import_presidio() -> None:
    code = "import sys, tidegate.detectors.pii; sys.exit('presidio_analyzer' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
