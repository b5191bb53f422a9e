from pathlib import Path

import pytest
from tests.audit.logs import lines_of, put_lines, write_log

from tidegate.audit import render_records, render_report, show, verify


def test_a_clean_report_says_so(tmp_path: Path) -> None:
    write_log(tmp_path, 2)
    text = render_report(verify(tmp_path))

    assert "records      7, 7 signed in 2 checkpoints\n" in text
    assert "requests     2 decisions, 2 completions, 0 aborted, 0 in flight\n" in text
    assert text.endswith("verdict      clean\n")


def test_a_report_lists_what_was_found(tmp_path: Path) -> None:
    write_log(tmp_path, 2)
    put_lines(tmp_path, lines_of(tmp_path)[:4])
    report = verify(tmp_path)
    report.more = 7
    text = render_report(report)

    assert "truncate     records 4 to 6: signed, but no longer there\n" in text
    assert "and 7 findings more\n" in text
    assert "verdict      TAMPERED WITH" in text


def test_an_unknown_log_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{}")

    assert "log          ? in" in render_report(verify(tmp_path))


def test_a_broken_log_has_no_root(tmp_path: Path) -> None:
    write_log(tmp_path, 2)
    put_lines(tmp_path, lines_of(tmp_path)[1:])

    assert "\nroot " not in render_report(verify(tmp_path))


def test_records_are_shown_field_by_field(tmp_path: Path) -> None:
    write_log(tmp_path, 1)
    text = render_records(show(tmp_path, "req-0"))

    assert text.startswith("llm.decision  #2  20")
    assert "\n  act           allow\n" in text
    assert "\n    - det=pii  dur=40  verdict=pass\n" in text
    assert "stream=yes" in text
    assert "llm.completion  #3" in text


def test_no_record_is_said_in_words() -> None:
    assert render_records([]) == "no record of this request\n"


@pytest.mark.parametrize("time", [None, "x", 10**30])
def test_an_impossible_time_is_no_failure(time: object) -> None:
    assert "at an unknown time" in render_records([{"k": "x", "t": time}])


def test_control_characters_do_not_reach_the_terminal() -> None:
    record = {"k": "x", "ua": "a\x1b[2Jb\u202ec\nd", "list": ["\x07", False]}
    text = render_records([record])

    assert "  ua            a\\u001b[2Jb\\u202ec\\nd\n" in text
    assert "  list          [\\u0007, no]\n" in text
