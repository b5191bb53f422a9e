from pathlib import Path

import pytest
from tests.audit.logs import FaultyFiles

from tidegate.audit.files import PosixFiles, replace_file, write_all


def test_short_writes_are_continued(tmp_path: Path) -> None:
    files = FaultyFiles()
    files.short = 3
    fd = files.create(tmp_path / "f")
    write_all(files, fd, b"0123456789")
    files.close(fd)

    assert (tmp_path / "f").read_bytes() == b"0123456789"
    assert files.calls.count("write") == 4


def test_files_are_private_and_created_once(tmp_path: Path) -> None:
    files = PosixFiles()
    files.close(files.create(tmp_path / "f"))
    files.close(files.append_to(tmp_path / "g"))

    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "f")


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="link"):
        PosixFiles().append_to(tmp_path / "link")


def test_an_open_file_knows_whether_it_is_still_there(tmp_path: Path) -> None:
    files, path = PosixFiles(), tmp_path / "f"
    fd = files.create(path)
    there = files.is_at(fd, path)
    path.unlink()
    gone = files.is_at(fd, path)
    path.write_bytes(b"")
    replaced = files.is_at(fd, path)
    files.close(fd)

    assert (there, gone, replaced) == (True, False, False)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    files, path = PosixFiles(), tmp_path / "f"
    replace_file(files, path, b"old and long")
    (tmp_path / "f.tmp").write_bytes(b"left by a crash, longer than all")
    replace_file(files, path, b"new")

    assert path.read_bytes() == b"new"
    assert [item.name for item in tmp_path.iterdir()] == ["f"]


def test_a_failed_replacement_leaves_the_old_file(tmp_path: Path) -> None:
    files, path = FaultyFiles(), tmp_path / "f"
    replace_file(files, path, b"old")
    files.fail("sync")

    with pytest.raises(OSError, match="Input/output"):
        replace_file(files, path, b"new")
    assert path.read_bytes() == b"old"


def test_parts_are_read_and_cut(tmp_path: Path) -> None:
    files = PosixFiles()
    fd = files.create(tmp_path / "f")
    write_all(files, fd, b"0123456789")
    part = files.read_at(fd, 3, 2)
    files.truncate(fd, 4)
    files.close(fd)
    files.rename(tmp_path / "f", tmp_path / "g")
    rest = (tmp_path / "g").read_bytes()
    files.unlink(tmp_path / "g")

    assert (part, rest, list(tmp_path.iterdir())) == (b"234", b"0123", [])
