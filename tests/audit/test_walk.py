from pathlib import Path

import pytest
from tests.audit.logs import changed, lines_of, put_lines, write_log

from tidegate.audit import walk
from tidegate.audit.frame import framed, record_of
from tidegate.audit.layout import Folder, Identity
from tidegate.audit.report import Fault, Report
from tidegate.audit.tree import leaf_hash
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


def given_up(directory: Path, lines: list[bytes], first: bytes) -> Report:
    """Cut the log in two behind ten records, with junk between and `first` heading the rest."""
    put_lines(directory, [*lines[:10], b"unacknowledged"])
    (directory / "wal" / "000000000010.jsonl").write_bytes(b"".join([first, *lines[11:]]))
    return walked(directory)[1]


def test_a_record_of_the_recovery_accounts_for_what_was_given_up(
    tmp_path: Path, lines: list[bytes]
) -> None:
    kept = sum(map(len, lines[:10]))
    said = {"k": "log.recovered", "seg": "000000000000.jsonl", "kept": kept, "why": "failed"}
    good = given_up(tmp_path, lines, changed(lines[10], **said))
    bad = given_up(tmp_path, lines, changed(lines[10], **said | {"kept": kept - 1}))

    assert found(good) == [(Fault.TORN, "record 10")]
    assert found(bad) == [(Fault.TORN, "record 10"), (Fault.INSERT, "000000000000.jsonl")]


def test_a_gap_is_a_note(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [*lines[:5], changed(lines[5], k="log.gap", count=3), *lines[6:]])
    _, report, _ = walked(tmp_path)

    assert found(report) == [(Fault.GAP, "record 5")]
    assert report.findings[0].detail.startswith("3 records were refused")


def test_a_missing_segment_is_told_and_the_rest_is_read(
    tmp_path: Path, lines: list[bytes]
) -> None:
    put_lines(tmp_path, lines[:5])
    (tmp_path / "wal" / "000000000012.jsonl").write_bytes(b"".join(lines[12:]))
    walk, report, seen = walked(tmp_path)

    assert found(report) == [(Fault.MISSING, "records 5 to 11")]
    assert seen == [*range(5), *range(12, 23)]
    assert not walk.whole


def test_a_bad_line_within_a_log_is_an_edit(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [*lines[:5], b"x\n", b"y\n", *lines[7:]])

    assert found(walked(tmp_path)[1]) == [(Fault.EDIT, "records 5 to 6")]


def test_a_bad_last_line_of_a_segment_is_an_edit(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [*lines[:5], b"x\n"])
    (tmp_path / "wal" / "000000000006.jsonl").write_bytes(b"".join(lines[6:]))

    assert found(walked(tmp_path)[1]) == [(Fault.EDIT, "record 5")]


def test_a_segment_without_records_that_count_is_a_trace(
    tmp_path: Path, lines: list[bytes]
) -> None:
    (tmp_path / "wal" / "000000000000-1.jsonl").write_bytes(b"".join(lines))

    assert found(walked(tmp_path)[1]) == [(Fault.TORN, "000000000000.jsonl")]


def test_foreign_records_are_spliced(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [changed(lines[0], vkey="x"), changed(lines[1], log="x"), *lines[1:]])
    walk, report, _ = walked(tmp_path)

    assert found(report) == [(Fault.SPLICE, "record 0"), (Fault.SPLICE, "record 1")]
    assert not walk.whole


def test_a_record_from_nowhere_is_an_insertion(tmp_path: Path, lines: list[bytes]) -> None:
    put_lines(tmp_path, [*lines[:5], changed(lines[3], why="x"), *lines[5:]])

    assert found(walked(tmp_path)[1]) == [(Fault.INSERT, "record 3")]


def test_a_deeply_nested_record_is_no_record(tmp_path: Path, lines: list[bytes]) -> None:
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    fits = changed(lines[5], x=deep)
    bomb = record_of(fits).replace(b"[1]", b"[" * 9000 + b"]" * 9000)
    put_lines(tmp_path, [*lines[:5], framed(bomb, leaf_hash(bomb)), *lines[6:]])

    assert found(walked(tmp_path)[1]) == [(Fault.EDIT, "record 5")]


def test_a_genesis_that_is_no_json_is_spliced(tmp_path: Path, lines: list[bytes]) -> None:
    odd = record_of(lines[0]).replace(b"gateway", b"gate\xff\xff\xff")
    put_lines(tmp_path, [framed(odd, leaf_hash(odd)), *lines[1:]])

    assert found(walked(tmp_path)[1]) == [(Fault.SPLICE, "record 0")]


def test_a_record_moved_from_the_beginning_of_a_gap_shortens_it(
    tmp_path: Path, lines: list[bytes]
) -> None:
    put_lines(tmp_path, [*lines[:5], lines[9], lines[5], lines[8], *lines[10:], b"x\n"])
    _, report, _ = walked(tmp_path)

    assert found(report) == [
        (Fault.REORDER, "record 5"),
        (Fault.REORDER, "record 8"),
        (Fault.TORN, "000000000000.jsonl"),
        (Fault.DELETE, "records 6 to 7"),
    ]


def test_a_bad_line_before_what_was_given_up_is_an_insertion(
    tmp_path: Path, lines: list[bytes]
) -> None:
    put_lines(tmp_path, [*lines[:9], b"x\n", lines[9], lines[9]])
    (tmp_path / "wal" / "000000000010.jsonl").write_bytes(b"".join(lines[10:]))

    assert found(walked(tmp_path)[1])[0] == (Fault.INSERT, "record 9")
