import asyncio
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from tests.audit.logs import (
    ORIGIN,
    changed,
    checkpoint_at,
    lines_of,
    opening,
    put_lines,
    renumbered,
    segments,
    sign_only,
    signer_of,
    write_log,
)

from tidegate.audit import Checkpoint, Ledger, Limits, Report, Signer, verify
from tidegate.audit.report import Fault

Lines = list[bytes]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Ten requests in 23 records, all under a checkpoint."""
    directory = tmp_path / "log"
    write_log(directory, 10)
    return directory


def faults(report: Report) -> set[Fault]:
    return {finding.fault for finding in report.findings}


def places(report: Report) -> list[tuple[Fault, str]]:
    return [(finding.fault, finding.place) for finding in report.findings]


def test_an_untouched_log_is_clean(log: Path) -> None:
    report = verify(log)
    (figures,) = report.logs

    assert (report.exit_code, report.findings) == (0, [])
    assert (figures.origin, figures.records, figures.signed) == (ORIGIN, 23, 23)
    assert (figures.decisions, figures.completions, figures.in_flight) == (10, 10, 0)
    assert figures.root


@pytest.mark.parametrize(
    ("tamper", "fault", "place"),
    [
        (lambda x: [*x[:6], x[6].replace(b"allow", b"block"), *x[7:]], "edit", "record 6"),
        (lambda x: [*x[:5], b"\n", *x[6:]], "edit", "record 5"),
        (lambda x: [*x[:5], changed(x[5], n="5"), *x[6:]], "edit", "record 5"),
        (lambda x: [*x[:22], x[22][:-9]], "edit", "record 22"),
        (lambda x: [*x[:5], *x[6:]], "delete", "record 5"),
        (lambda x: [*x[:5], *x[9:]], "delete", "records 5 to 8"),
        (lambda x: x[1:], "delete", "record 0"),
        (lambda x: [*x[:5], changed(x[5], id="0" * 22), *x[5:]], "insert", "record 5"),
        (lambda x: [*x[:5], b"note\n", *x[5:]], "insert", "record 5"),
        (lambda x: [*x[:5], x[4], *x[5:]], "duplicate", "record 4"),
        (lambda x: [*x[:5], x[6], x[5], *x[7:]], "reorder", "record 5"),
        (lambda x: [*x[:5], *x[8:12], *x[5:8], *x[12:]], "reorder", "record 6"),
        (lambda x: [*x[:5], x[8], x[6], *x[9:], x[5]], "delete", "record 7"),
        (lambda x: x[:-1], "truncate", "records 22 to 22"),
        (lambda x: x[:9], "truncate", "records 9 to 22"),
        (lambda x: [], "truncate", "records 0 to 22"),
        (lambda x: [*x[:5], changed(x[5], log="another"), *x[6:]], "splice", "record 5"),
        (lambda x: [changed(x[0], origin="other.example"), *x[1:]], "splice", "record 0"),
        (lambda x: [*x[:5], changed(x[5], act="block"), *x[6:]], "edit", "records 2 to 22"),
        (lambda x: [*x[:5], changed(x[5], t=1), *x[6:]], "edit", "records 2 to 22"),
        (lambda x: renumbered([*x[:5], *x[6:]]), "truncate", "records 22 to 22"),
        (lambda x: renumbered([*x[:5], x[6], x[5], *x[7:]]), "edit", "records 2 to 22"),
        (lambda x: renumbered([*x[:5], x[3], *x[5:]]), "edit", "records 2 to 22"),
        (lambda x: [*x, changed(x[5], n=23)], "insert", "record 23"),
    ],
)
def test_tampering_is_found_with_its_class_and_place(
    log: Path, tamper: Callable[[Lines], Lines], fault: str, place: str
) -> None:
    put_lines(log, tamper(lines_of(log)))
    report = verify(log)

    assert (Fault(fault), place) in places(report)
    assert report.exit_code == 1


def test_an_edit_with_everything_recomputed_is_found_between_checkpoints(log: Path) -> None:
    sign_only(log, 2, 8, 12, 23)
    lines = lines_of(log)
    put_lines(log, [*lines[:9], changed(lines[9], code=500), *lines[10:]])

    assert places(verify(log)) == [(Fault.EDIT, "records 8 to 11")]


@pytest.mark.parametrize("cut", [b'{"c":"', b"\0" * 100, b"x" * 70_000])
def test_a_torn_tail_is_no_tampering(log: Path, cut: bytes) -> None:
    sign_only(log, 9)
    put_lines(log, [*lines_of(log)[:10], cut])
    report = verify(log)

    assert (report.exit_code, faults(report)) == (0, {Fault.TORN})


def test_a_log_in_use_is_clean_and_its_open_decisions_in_flight(tmp_path: Path) -> None:
    async def run() -> Report:
        ledger = Ledger.open(tmp_path, origin=ORIGIN)
        await ledger.append(opening())
        report = verify(tmp_path)
        await ledger.close()
        return report

    report = asyncio.run(run())

    assert (report.exit_code, report.findings) == (0, [])
    assert (report.logs[0].in_flight, report.logs[0].signed) == (1, 2)


def test_a_segment_that_is_gone_is_missing(tmp_path: Path) -> None:
    write_log(tmp_path, 10, limits=Limits(segment_bytes=2000))
    clean = verify(tmp_path).exit_code
    first = int(segments(tmp_path)[1].stem)
    after = int(segments(tmp_path)[2].stem)
    segments(tmp_path)[1].unlink()
    report = verify(tmp_path)

    assert (clean, report.exit_code) == (0, 1)
    assert (Fault.MISSING, f"records {first} to {after - 1}") in places(report)


def test_segments_that_change_places_are_found(tmp_path: Path) -> None:
    write_log(tmp_path, 10, limits=Limits(segment_bytes=2000))
    one, two = segments(tmp_path)[:2]
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)

    assert verify(tmp_path).exit_code == 1


def test_bytes_behind_a_segments_end_are_an_insertion(tmp_path: Path) -> None:
    write_log(tmp_path, 10, limits=Limits(segment_bytes=2000))
    with segments(tmp_path)[0].open("ab") as file:
        file.write(lines_of(tmp_path)[4])
    report = verify(tmp_path)

    assert (report.exit_code, faults(report)) == (1, {Fault.INSERT})


def test_a_bad_line_before_a_segments_end_is_an_edit(tmp_path: Path) -> None:
    write_log(tmp_path, 10, limits=Limits(segment_bytes=2000))
    first = segments(tmp_path)[0]
    first.write_bytes(first.read_bytes()[:-5])
    last = int(segments(tmp_path)[1].stem) - 1

    assert (Fault.EDIT, f"record {last}") in places(verify(tmp_path))


def test_a_segment_given_up_before_its_first_record_is_a_trace(log: Path) -> None:
    (log / "wal" / "000000000000-1.jsonl").write_bytes(segments(log)[0].read_bytes())
    report = verify(log)

    assert (report.exit_code, faults(report)) == (0, {Fault.TORN})


def test_a_changed_checkpoint_has_a_bad_signature(log: Path) -> None:
    for name, number in (("checkpoints.log", "\n2\n"), ("checkpoint", "\n23\n")):
        path = log / name
        path.write_text(path.read_text().replace(number, "\n9\n", 1))
        report = verify(log)

        assert (report.exit_code, Fault.BAD_SIGNATURE in faults(report)) == (1, True)


def test_another_key_has_no_good_signature(log: Path) -> None:
    note = Signer.generate(ORIGIN).sign(checkpoint_at(log, 23))
    (log / "checkpoint").write_text(note)

    assert (Fault.BAD_SIGNATURE, "checkpoint") in places(verify(log))


def test_a_log_of_another_key_than_the_known_one_is_found(log: Path) -> None:
    known = signer_of(log).vkey
    other = Signer.generate(ORIGIN).vkey

    assert verify(log, vkey=known).exit_code == 0
    assert places(verify(log, vkey=other)) == [(Fault.BAD_SIGNATURE, "log.json")]


def test_two_roots_of_one_size_are_a_fork(log: Path) -> None:
    fork = signer_of(log).sign(Checkpoint(ORIGIN, 23, bytes(32)))
    with (log / "checkpoints.log").open("a") as file:
        file.write(fork + "\n")
    report = verify(log)

    assert (report.exit_code, Fault.FORK in faults(report)) == (1, True)


def test_a_newest_checkpoint_of_another_history_is_a_fork(log: Path) -> None:
    (log / "checkpoint").write_text(signer_of(log).sign(Checkpoint(ORIGIN, 23, bytes(32))))

    assert Fault.FORK in faults(verify(log))


def test_checkpoints_that_shrink_are_a_rollback(log: Path) -> None:
    sign_only(log, 2, 23, 9, 23)

    assert places(verify(log)) == [(Fault.ROLLBACK, "checkpoints.log, note 2")]


def test_checkpoints_cut_off_behind_an_older_one_are_a_rollback(log: Path) -> None:
    newest = (log / "checkpoint").read_text()
    sign_only(log, 2)
    (log / "checkpoint").write_text(newest)

    assert places(verify(log)) == [(Fault.ROLLBACK, "checkpoints.log")]


def test_a_torn_note_is_no_tampering(log: Path) -> None:
    with (log / "checkpoints.log").open("a") as file:
        file.write("half a no")
    report = verify(log)

    assert (report.exit_code, faults(report)) == (0, {Fault.TORN})


def test_a_rollback_shows_against_a_remembered_checkpoint(log: Path) -> None:
    seen = checkpoint_at(log, 23)
    put_lines(log, lines_of(log)[:9])
    sign_only(log, 9)
    elsewhere = Checkpoint("other.example", 99, bytes(32))

    assert verify(log).exit_code == 0
    assert verify(log, remembered=elsewhere).exit_code == 0
    assert places(verify(log, remembered=seen)) == [(Fault.ROLLBACK, "log")]


def test_a_history_written_anew_shows_against_a_remembered_checkpoint(log: Path) -> None:
    seen = checkpoint_at(log, 12)
    lines = lines_of(log)
    put_lines(log, [*lines[:9], changed(lines[9], code=500), *lines[10:]])
    sign_only(log, 23)

    assert verify(log).exit_code == 0
    assert faults(verify(log, remembered=seen)) == {Fault.FORK}


def test_a_log_without_checkpoints_is_incomplete(log: Path) -> None:
    (log / "checkpoint").unlink()
    (log / "checkpoints.log").unlink()
    report = verify(log)

    assert (report.exit_code, faults(report)) == (2, {Fault.UNSIGNED})


def test_an_open_log_without_checkpoints_is_incomplete(log: Path) -> None:
    (log / "checkpoint").unlink()
    (log / "checkpoints.log").unlink()
    put_lines(log, lines_of(log)[:-1])
    report = verify(log)

    assert (report.exit_code, faults(report)) == (2, {Fault.UNSIGNED})


def test_a_decision_that_never_ended_is_unpaired(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, renumbered([*lines[:21], lines[22]]))
    sign_only(log, 22)

    report = verify(log)

    assert (report.exit_code, places(report)) == (2, [(Fault.UNPAIRED, "record 20")])


def test_logs_side_by_side_are_all_verified(tmp_path: Path) -> None:
    write_log(tmp_path / "a", 1)
    copytree(tmp_path / "a", tmp_path / "b")
    put_lines(tmp_path / "b", lines_of(tmp_path / "b")[:3])
    report = verify(tmp_path)

    assert [log.records for log in report.logs] == [5, 3]
    assert report.exit_code == 1


@pytest.mark.parametrize("name", ["log.json", "wal"])
def test_a_log_that_lost_its_parts_is_not_clean(log: Path, name: str) -> None:
    (log / name).rename(log / "gone")

    assert verify(log).exit_code == {"log.json": 3, "wal": 1}[name]


def test_a_malformed_identity_is_unreadable(log: Path) -> None:
    (log / "log.json").write_text("{}")

    assert places(verify(log)) == [(Fault.UNREADABLE, str(log))]


def test_where_no_log_is_nothing_is_clean(tmp_path: Path) -> None:
    assert verify(tmp_path).exit_code == 3
    assert verify(tmp_path / "absent").exit_code == 3


def test_what_the_disk_does_not_give_is_unreadable(log: Path) -> None:
    path = segments(log)[0]
    path.unlink()
    path.mkdir()

    assert places(verify(log)) == [(Fault.UNREADABLE, str(log))]
