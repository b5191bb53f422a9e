from pathlib import Path

import pytest
from tests.audit.logs import ORIGIN

from tidegate.audit import LedgerDamaged, LedgerFailed, LedgerLocked, Signer
from tidegate.audit.files import PosixFiles
from tidegate.audit.frame import MAX_LINE
from tidegate.audit.layout import Folder, Identity, Segment, enrol, lock, with_stops

FILES = PosixFiles()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "log")
    for path in (folder.wal, folder.quarantine):
        path.mkdir(parents=True)
    return folder


def test_a_folder_without_segments_has_none(tmp_path: Path) -> None:
    assert Folder(tmp_path).segments() == []


def test_everything_lies_in_the_logs_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    names = [folder.identity, folder.key, folder.wal, folder.checkpoint, folder.checkpoints]

    assert [path.name for path in names] == [
        "log.json",
        "log.key",
        "wal",
        "checkpoint",
        "checkpoints.log",
    ]
    assert folder.quarantine == tmp_path / "quarantine"


def test_segments_are_ordered_by_first_record_then_attempt(folder: Folder) -> None:
    for name in ("000000000010.jsonl", "000000000000.jsonl", "000000000010-2.jsonl", "x.jsonl"):
        (folder.wal / name).touch()

    assert [(s.first, s.attempt) for s in folder.segments()] == [(0, 0), (10, 0), (10, 2)]


def test_a_free_name_is_one_that_is_not_taken(folder: Folder) -> None:
    names = []
    for _ in range(3):
        path = folder.free_segment(5)
        path.touch()
        names.append(path.name)

    assert names == ["000000000005.jsonl", "000000000005-1.jsonl", "000000000005-2.jsonl"]


def test_each_segment_stops_where_the_next_one_begins(folder: Folder) -> None:
    parts = [Segment(first, 0, folder.wal) for first in (0, 4, 9)]

    assert [stop for _, stop in with_stops(parts)] == [4, 9, None]
    assert with_stops([]) == []


def test_an_unfinished_line_ends_the_reading(folder: Folder) -> None:
    path = folder.wal / "000000000000.jsonl"
    path.write_bytes(b"one\ntwo\nthr")

    assert list(Segment(0, 0, path).lines()) == [b"one\n", b"two\n", b"thr"]


def test_a_giant_line_comes_in_pieces(folder: Folder) -> None:
    path = folder.wal / "000000000000.jsonl"
    path.write_bytes(b"x" * (2 * MAX_LINE) + b"\n")

    assert [len(line) for line in Segment(0, 0, path).lines()] == [MAX_LINE, MAX_LINE, 1]


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "a" / "log")
    held = lock(folder)
    with pytest.raises(LedgerLocked):
        lock(folder)
    FILES.close(held)
    FILES.close(lock(folder))

    assert folder.wal.stat().st_mode & 0o777 == 0o700


def test_the_first_start_makes_key_and_identity(folder: Folder) -> None:
    identity, signer = enrol(folder, FILES, ORIGIN, 5)
    again, same = enrol(folder, FILES, ORIGIN, 6)

    assert (identity, signer.vkey) == (again, same.vkey)
    assert identity.origin == ORIGIN
    assert identity.created == 5
    assert folder.key.stat().st_mode & 0o777 == 0o600


def test_a_start_that_was_cut_off_behind_the_key_keeps_it(folder: Folder) -> None:
    signer = Signer.generate(ORIGIN)
    folder.key.write_text(signer.skey + "\n")
    folder.key.chmod(0o600)

    assert enrol(folder, FILES, ORIGIN, 5)[1].vkey == signer.vkey


def test_a_key_that_others_may_read_is_refused(folder: Folder) -> None:
    enrol(folder, FILES, ORIGIN, 5)
    folder.key.chmod(0o640)

    with pytest.raises(LedgerFailed, match="chmod 600"):
        enrol(folder, FILES, ORIGIN, 5)


def test_a_missing_key_is_not_made_anew(folder: Folder) -> None:
    enrol(folder, FILES, ORIGIN, 5)
    folder.key.unlink()

    with pytest.raises(LedgerFailed, match="missing"):
        enrol(folder, FILES, ORIGIN, 5)


@pytest.mark.parametrize("text", ["junk", "\udcff"])
def test_a_malformed_key_is_refused(folder: Folder, text: str) -> None:
    enrol(folder, FILES, ORIGIN, 5)
    folder.key.write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(LedgerDamaged, match="malformed"):
        enrol(folder, FILES, ORIGIN, 5)


def test_another_key_is_refused(folder: Folder) -> None:
    enrol(folder, FILES, ORIGIN, 5)
    folder.key.write_text(Signer.generate(ORIGIN).skey)

    with pytest.raises(LedgerDamaged, match="not the key"):
        enrol(folder, FILES, ORIGIN, 5)


def test_another_origin_is_refused(folder: Folder) -> None:
    enrol(folder, FILES, ORIGIN, 5)

    with pytest.raises(LedgerFailed, match="is the log of"):
        enrol(folder, FILES, "other.example/log", 5)


def test_records_without_identity_are_not_adopted(folder: Folder) -> None:
    folder.free_segment(0).touch()

    with pytest.raises(LedgerDamaged, match=r"no log\.json"):
        enrol(folder, FILES, ORIGIN, 5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"log": "', '"log": "0'),
        (ORIGIN, "other.example/1"),
        ("{", "["),
        ("vkeys", "keys"),
        ('"vkeys": [', '"vkeys": [], "x": ['),
    ],
)
def test_a_changed_identity_is_refused(folder: Folder, old: str, new: str) -> None:
    enrol(folder, FILES, ORIGIN, 5)
    folder.identity.write_text(folder.identity.read_text().replace(old, new, 1))

    with pytest.raises(LedgerDamaged):
        Identity.read(folder)
