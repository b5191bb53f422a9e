from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.logs import ORIGIN, FaultyFiles, write_log

from tidegate.audit import LedgerLocked, Verifier
from tidegate.audit.frame import framed
from tidegate.audit.notes import newest, notes
from tidegate.audit.store import Store
from tidegate.audit.tree import leaf_hash, root_of


def open_store(directory: Path, files: FaultyFiles) -> Store:
    return Store.open(directory, files, ORIGIN, 5)[0]


@pytest.fixture
def files() -> FaultyFiles:
    return FaultyFiles()


@pytest.fixture
def store(tmp_path: Path, files: FaultyFiles) -> Iterator[Store]:
    store = open_store(tmp_path, files)
    yield store
    store.close()


def batch(*records: bytes) -> tuple[list[bytes], list[bytes]]:
    leaves = [leaf_hash(record) for record in records]
    return [framed(r, leaf) for r, leaf in zip(records, leaves, strict=True)], leaves


def wal(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (directory / "wal").iterdir()}


def test_what_is_appended_is_on_disk_and_in_the_tree(tmp_path: Path, store: Store) -> None:
    lines, leaves = batch(b"{}", b"[]")
    whole = store.append(lines, leaves)
    again = store.append(lines, leaves)

    assert (whole, again) == (True, True)
    assert (tmp_path / "wal" / store.segment).read_bytes() == b"".join(lines * 2)
    assert store.tree.root() == root_of(leaves * 2)
    assert store.segment_bytes == len(b"".join(lines * 2))


def test_short_writes_are_completed(tmp_path: Path, store: Store, files: FaultyFiles) -> None:
    files.short = 5
    lines, leaves = batch(b"{}")
    store.append(lines, leaves)

    assert (tmp_path / "wal" / store.segment).read_bytes() == lines[0]


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_failed_append_counts_for_nothing(
    tmp_path: Path, store: Store, files: FaultyFiles, operation: str
) -> None:
    store.append(*batch(b"{}"))
    kept = store.segment_bytes
    files.fail(operation)
    with pytest.raises(OSError, match="Input/output"):
        store.append(*batch(b"[]"))
    given_up = store.abandon()
    store.append(*batch(b"[1]"))

    assert given_up == ("000000000000.jsonl", kept)
    assert store.segment == "000000000001.jsonl"
    assert store.tree.size == 2


def test_a_segment_given_up_before_its_first_record_is_removed(
    tmp_path: Path, store: Store, files: FaultyFiles
) -> None:
    files.room = 10
    with pytest.raises(OSError, match="No space"):
        store.append(*batch(b"{}"))
    store.abandon()
    after = wal(tmp_path)
    files.room = -1
    store.append(*batch(b"{}"))

    assert after == {}
    assert store.segment == "000000000000.jsonl"


def test_a_segment_that_cannot_be_removed_is_passed_by(
    tmp_path: Path, store: Store, files: FaultyFiles
) -> None:
    files.fail("sync")
    files.fail("unlink")
    with pytest.raises(OSError, match="Input/output"):
        store.append(*batch(b"{}"))
    store.abandon()
    store.append(*batch(b"{}"))

    assert store.segment == "000000000000-1.jsonl"


def test_an_opened_again_store_goes_on_in_its_segment(tmp_path: Path, files: FaultyFiles) -> None:
    write_log(tmp_path, 1)
    before = (tmp_path / "wal" / "000000000000.jsonl").read_bytes()
    store = open_store(tmp_path, files)
    lines, leaves = batch(b"{}")
    store.append(lines, leaves)
    store.close()

    assert (tmp_path / "wal" / "000000000000.jsonl").read_bytes() == before + lines[0]
    assert store.tree.size == 6


def test_rolling_begins_a_segment_named_by_its_first_record(tmp_path: Path, store: Store) -> None:
    store.append(*batch(b"{}", b"[]"))
    store.roll()
    store.roll()
    store.append(*batch(b"{}"))

    assert sorted(wal(tmp_path)) == ["000000000000.jsonl", "000000000002.jsonl"]


def test_a_removed_segment_is_written_again(tmp_path: Path, store: Store) -> None:
    lines, leaves = batch(b"{}")
    store.append(lines, leaves)
    (tmp_path / "wal" / store.segment).unlink()
    whole = store.append(lines, leaves)
    store.append(lines, leaves)

    assert not whole
    assert (tmp_path / "wal" / store.segment).read_bytes() == lines[0] * 3


def test_a_replaced_segment_is_restored_and_the_other_kept(tmp_path: Path, store: Store) -> None:
    lines, leaves = batch(b"{}")
    store.append(lines, leaves)
    path = tmp_path / "wal" / store.segment
    path.unlink()
    path.write_bytes(b"planted")
    store.append(lines, leaves)

    assert path.read_bytes() == lines[0] * 2
    assert [p.read_bytes() for p in (tmp_path / "quarantine").iterdir()] == [b"planted"]


def test_checkpoints_are_published_one_behind_the_other(tmp_path: Path, store: Store) -> None:
    store.append(*batch(b"{}"))
    store.publish()
    store.append(*batch(b"[]"))
    store.publish()
    verifier = Verifier(store.vkey)
    read = [note.checkpoint for note in notes(tmp_path / "checkpoints.log", verifier)]

    assert [c.size for c in read if c] == [1, 2]
    assert newest(tmp_path / "checkpoint", verifier) == read[1]
    assert store.signed == 2


def test_half_a_note_is_overwritten(tmp_path: Path, store: Store, files: FaultyFiles) -> None:
    store.append(*batch(b"{}"))
    store.publish()
    files.room = 20
    with pytest.raises(OSError, match="No space"):
        store.publish()
    files.room = -1
    store.publish()
    read = list(notes(tmp_path / "checkpoints.log", Verifier(store.vkey)))

    assert [bool(note.checkpoint) for note in read] == [True, True]


def test_a_removed_file_of_checkpoints_is_written_again(tmp_path: Path, store: Store) -> None:
    store.append(*batch(b"{}"))
    store.publish()
    (tmp_path / "checkpoints.log").unlink()
    store.publish()

    assert len(list(notes(tmp_path / "checkpoints.log", Verifier(store.vkey)))) == 2


def test_an_open_store_is_locked_until_it_is_closed(tmp_path: Path, store: Store) -> None:
    with pytest.raises(LedgerLocked):
        open_store(tmp_path, FaultyFiles())
    store.close()
    store.close()
    open_store(tmp_path, FaultyFiles()).close()


def test_a_failed_opening_gives_the_lock_back(tmp_path: Path, files: FaultyFiles) -> None:
    files.fail("sync")
    with pytest.raises(OSError, match="Input/output"):
        open_store(tmp_path, files)
    open_store(tmp_path, files).close()
