from pathlib import Path

import pytest
from tests.audit.logs import lines_of, put_lines, write_log

from tidegate.audit import walk
from tidegate.audit.layout import Folder, Identity
from tidegate.audit.report import Fault, Report
from tidegate.audit.walk import Walk


def walked(directory: Path, signed: int = 0) -> tuple[Walk, Report, list[int]]:
    report, seen = Report(), list[int]()
    walk = Walk(Identity.read(Folder(directory)), signed, report)
    walk.run(Folder(directory).segments(), lambda head: seen.append(head.n))
    return walk, report, seen


@pytest.fixture
def lines(tmp_path: Path) -> list[bytes]:
    write_log(tmp_path, 10)
    return lines_of(tmp_path)


def found(report: Report) -> list[tuple[Fault, str]]:
    return [(finding.fault, finding.place) for finding in report.findings]


def test_every_record_is_seen_once_in_order(tmp_path: Path, lines: list[bytes]) -> None:
    walk, report, seen = walked(tmp_path)

    assert (walk.whole, walk.due, walk.tree.size, report.findings) == (True, 23, 23, [])
    assert seen == [*range(23)]


def test_an_insertion_leaves_the_tree_whole(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [*lines[:5], lines[2], b"x\n", *lines[5:]])
    walk, report, _ = walked(tmp_path)

    assert found(report) == [(Fault.DUPLICATE, "record 2"), (Fault.INSERT, "record 5")]
    assert (walk.whole, walk.tree.size) == (True, 23)


def test_a_record_moved_to_the_middle_of_a_gap_splits_it(
    tmp_path: Path, lines: list[bytes]
) -> None:
    put_lines(tmp_path, [*lines[:5], lines[9], lines[7], *lines[10:]])
    walk, report, _ = walked(tmp_path)

    assert found(report) == [
        (Fault.REORDER, "record 7"),
        (Fault.DELETE, "records 5 to 6"),
        (Fault.DELETE, "record 8"),
    ]
    assert not walk.whole


def test_a_bad_line_at_the_end_is_torn_or_edited_by_what_was_signed(
    tmp_path: Path, lines: list[bytes]
) -> None:
    put_lines(tmp_path, [*lines[:22], lines[22][:-1]])

    assert found(walked(tmp_path, 22)[1]) == [(Fault.TORN, "000000000000.jsonl")]
    assert found(walked(tmp_path, 23)[1]) == [(Fault.EDIT, "record 22")]


def test_what_is_given_up_must_be_accounted_for(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [*lines[:12], b"x\n", b"given up"])
    (tmp_path / "wal" / "000000000012.jsonl").write_bytes(b"".join(lines[12:]))
    _, report, seen = walked(tmp_path)

    assert found(report) == [(Fault.INSERT, "000000000000.jsonl")]
    assert "10 bytes" in report.findings[0].detail
    assert seen == [*range(23)]


def test_memory_is_bounded(
    tmp_path: Path, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "_RECENT", 2)
    monkeypatch.setattr(walk, "_MAX_GAPS", 1)
    put_lines(tmp_path, [lines[0], *lines[2:4], *lines[5:9], lines[2], *lines[9:]])
    _, report, _ = walked(tmp_path)

    assert found(report) == [
        (Fault.DELETE, "record 4"),
        (Fault.INSERT, "record 2"),
        (Fault.DELETE, "record 1"),
    ]
