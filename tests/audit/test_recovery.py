from pathlib import Path

import pytest
from tests.audit.logs import (
    changed,
    lines_of,
    put_lines,
    segments,
    sign_only,
    write_log,
)

from tidegate.audit import LedgerDamaged, Limits
from tidegate.audit.files import PosixFiles
from tidegate.audit.frame import framed
from tidegate.audit.layout import Folder, Identity
from tidegate.audit.recovery import Recovered, fields_of, head_of, recover
from tidegate.audit.tree import leaf_hash


def recovered(directory: Path) -> Recovered:
    folder = Folder(directory)
    identity = Identity.read(folder)
    return recover(folder, PosixFiles(), identity.log, identity.verifier())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Ten requests in 23 records, of which the first eight are under a checkpoint."""
    write_log(tmp_path, 10)
    sign_only(tmp_path, 2, 8)
    return tmp_path


def test_a_whole_log_is_taken_as_it_is(log: Path) -> None:
    before = lines_of(log)
    found = recovered(log)

    assert (found.tree.size, found.events, found.unclosed) == (23, [], {})
    assert found.kept == sum(map(len, before))
    assert lines_of(log) == before


def test_a_torn_tail_goes_to_quarantine(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:20], lines[20][:50]])
    found = recovered(log)
    (torn,) = (log / "quarantine").iterdir()

    assert found.tree.size == 20
    assert torn.read_bytes() == lines[20][:50]
    assert lines_of(log) == lines[:20]
    assert [(e["why"], e["cut"], e["seg"]) for e in found.events] == [
        ("torn", 50, "000000000000.jsonl")
    ]


def test_decisions_without_an_ending_are_found(log: Path) -> None:
    put_lines(log, lines_of(log)[:21])

    assert len(recovered(log).unclosed) == 1


@pytest.mark.parametrize("keep", [0, 1, 7])
def test_a_log_shorter_than_its_checkpoint_is_not_touched(log: Path, keep: int) -> None:
    put_lines(log, [*lines_of(log)[:keep], b"torn"])
    before = segments(log)[0].read_bytes()

    with pytest.raises(LedgerDamaged, match="8 records were signed"):
        recovered(log)
    assert segments(log)[0].read_bytes() == before


def test_a_log_with_another_root_than_was_signed_is_not_touched(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:3], changed(lines[3], act="block"), *lines[4:]])

    with pytest.raises(LedgerDamaged, match="not those that were signed"):
        recovered(log)


def test_the_newer_of_both_checkpoint_files_counts(log: Path) -> None:
    sign_only(log, 8, 12)
    newer = (log / "checkpoints.log").read_bytes()
    sign_only(log, 8)
    (log / "checkpoints.log").write_bytes(newer)
    put_lines(log, lines_of(log)[:10])

    with pytest.raises(LedgerDamaged, match="12 records were signed"):
        recovered(log)


def test_a_forged_checkpoint_is_not_accepted(log: Path) -> None:
    path = log / "checkpoint"
    path.write_text(path.read_text().replace("\n8\n", "\n7\n"))

    with pytest.raises(LedgerDamaged, match="not signed by this log"):
        recovered(log)


def test_a_log_without_checkpoints_is_recovered(log: Path) -> None:
    (log / "checkpoint").unlink()
    (log / "checkpoints.log").unlink()

    assert recovered(log).tree.size == 23


def test_a_torn_note_is_cut_off(log: Path) -> None:
    path = log / "checkpoints.log"
    whole = path.read_bytes()
    path.write_bytes(whole + b"half a no")
    recovered(log)

    assert path.read_bytes() == whole


def test_a_record_of_another_log_ends_the_log(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:12], changed(lines[12], log="another"), *lines[13:]])

    assert recovered(log).tree.size == 12


def test_a_line_that_is_no_record_ends_the_log(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:12], changed(lines[12], n="twelve"), *lines[13:]])

    assert recovered(log).tree.size == 12


def test_several_segments_are_one_log(tmp_path: Path) -> None:
    write_log(tmp_path, 10, limits=Limits(segment_bytes=2000))

    assert len(segments(tmp_path)) > 2
    assert recovered(tmp_path).tree.size == 23


def test_a_missing_segment_is_not_skipped(tmp_path: Path) -> None:
    write_log(tmp_path, 10, limits=Limits(segment_bytes=2000))
    segments(tmp_path)[1].unlink()

    with pytest.raises(LedgerDamaged, match="are missing"):
        recovered(tmp_path)


def test_what_was_given_up_does_not_count(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:12], b"unacknowledged\n"])
    (log / "wal" / "000000000012.jsonl").write_bytes(b"".join(lines[12:]))

    assert (recovered(log).tree.size, recovered(log).events) == (23, [])


def test_an_empty_segment_answers_for_the_one_given_up(log: Path) -> None:
    lines = lines_of(log)
    (log / "wal" / "000000000012.jsonl").write_bytes(b"")
    (log / "wal" / "000000000012-1.jsonl").write_bytes(b"")
    found = recovered(log)

    assert found.tree.size == 12
    assert found.events == [
        {
            "k": "log.recovered",
            "seg": "000000000000.jsonl",
            "kept": sum(map(len, lines[:12])),
            "why": "abandoned",
        }
    ]


def test_a_folder_without_segments_is_an_empty_log(log: Path) -> None:
    segments(log)[0].unlink()
    (log / "checkpoint").unlink()
    (log / "checkpoints.log").unlink()
    found = recovered(log)

    assert (found.tree.size, found.segment, found.kept) == (0, None, 0)


@pytest.mark.parametrize("record", [b"[1]", b"{", b'{"n":1}', b"[" * 9000])
def test_a_line_without_a_head_is_no_record(record: bytes) -> None:
    assert head_of(framed(record, leaf_hash(record))) is None


def test_the_fields_of_no_record_are_none() -> None:
    for record in (b"[1]", b"{"):
        assert fields_of(framed(record, leaf_hash(record))) == {}
    assert fields_of(framed(b'{"n":1}', b"leaf")) == {"n": 1}
