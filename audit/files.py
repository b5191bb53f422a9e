"""The few file operations that the log does, as a parameter: tests make them fail."""

import os
from pathlib import Path
from typing import Protocol

_PRIVATE = 0o600


class Files(Protocol):
    """All I/O of a log that is open for writing.  Every method may raise OSError."""

    def create(self, path: Path) -> int:
        """Create a file that must not exist, private, for appending; its descriptor."""

    def append_to(self, path: Path) -> int:
        """Open or create a file, private, for appending; its descriptor."""

    def write(self, fd: int, data: memoryview) -> int:
        """Write some of `data`, at least one byte; how many bytes were written."""

    def sync(self, fd: int) -> None:
        """Return when all that was written is on the disk."""

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on the disk."""

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`."""

    def is_at(self, fd: int, path: Path) -> bool:
        """Tell whether `path` still names the open file."""

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file."""

    def rename(self, source: Path, target: Path) -> None:
        """Replace `target` by `source`, at once."""

    def unlink(self, path: Path) -> None:
        """Remove a file."""

    def close(self, fd: int) -> None:
        """Give the descriptor back."""


class PosixFiles:
    """The real thing.  Links are not followed, so that nobody can point the log elsewhere."""

    def create(self, path: Path) -> int:
        """Create a file that must not exist."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(path, flags, _PRIVATE)

    def append_to(self, path: Path) -> int:
        """Open or create a file for appending."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(path, flags, _PRIVATE)

    def write(self, fd: int, data: memoryview) -> int:
        """Write some of `data`."""
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        """Return when all that was written is on the disk."""
        os.fdatasync(fd)

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on the disk."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`."""
        return os.pread(fd, size, offset)

    def is_at(self, fd: int, path: Path) -> bool:
        """Tell whether `path` still names the open file."""
        try:
            return os.path.samestat(os.fstat(fd), path.lstat())
        except FileNotFoundError:
            return False

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file."""
        os.ftruncate(fd, size)

    def rename(self, source: Path, target: Path) -> None:
        """Replace `target` by `source`."""
        source.rename(target)

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def close(self, fd: int) -> None:
        """Give the descriptor back."""
        os.close(fd)


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Write all of `data`, however short the single writes are."""
    rest = memoryview(data)
    while rest:
        rest = rest[files.write(fd, rest) :]


def replace_file(files: Files, path: Path, data: bytes) -> None:
    """Put a file with this content at `path`, durably: readers see the old one or the new one."""
    beside = path.with_name(path.name + ".tmp")
    fd = files.append_to(beside)
    try:
        files.truncate(fd, 0)
        write_all(files, fd, data)
        files.sync(fd)
    finally:
        files.close(fd)
    files.rename(beside, path)
    files.sync_folder(path.parent)
