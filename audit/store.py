"""The files of a log that is open for writing: segments and checkpoints.

Called by one thread.  A failed write or sync leaves the end of a segment unknown (Linux may drop
the pages and report success the next time, see PostgreSQL's fsync findings of 2018), so a segment
is never written again after a failure: what was not acknowledged goes into a new one.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from .checkpoint import Checkpoint, Signer
from .files import Files, replace_file, write_all
from .layout import Folder, enrol, lock
from .recovery import Recovered, recover
from .tree import Frontier

_COPY = 1 << 20


class Store:
    """An open, locked log."""

    def __init__(
        self, folder: Folder, files: Files, signer: Signer, found: Recovered, held: int
    ) -> None:
        self.tree: Frontier = found.tree
        self.signed = -1
        """The size of the newest checkpoint of this run."""
        self._folder = folder
        self._files = files
        self._signer = signer
        self._lock = held
        self._notes = -1
        self._notes_kept = 0
        self._fd = -1
        self._kept = found.kept
        self._path = found.segment.path if found.segment else folder.free_segment(0)
        if found.segment:
            self._fd = files.append_to(self._path)

    @classmethod
    def open(
        cls, root: Path, files: Files, origin: str, created: int
    ) -> tuple[Self, Recovered, str]:
        """Lock and recover a log, or begin one; the store, what was found, and the short id.

        Raises:
            LedgerFailed: see `layout.lock`, `layout.enrol` and `recovery.recover`.
            OSError: if the disk does not obey.

        """
        folder = Folder(root)
        held = lock(folder)
        try:
            identity, signer = enrol(folder, files, origin, created)
            found = recover(folder, files, identity.log, identity.verifier())
            store = cls(folder, files, signer, found, held)
        except BaseException:
            os.close(held)
            raise
        return store, found, identity.log

    @property
    def vkey(self) -> str:
        """The key text that checks this log's checkpoints."""
        return self._signer.vkey

    @property
    def segment(self) -> str:
        """The name of the segment that is written now."""
        return self._path.name

    @property
    def segment_bytes(self) -> int:
        """Bytes in the segment that is written now."""
        return self._kept

    def append(self, lines: Sequence[bytes], leaves: Sequence[bytes]) -> bool:
        """Write lines; they are durable on return.  False if the file had to be restored.

        Raises:
            OSError: nothing of this batch counts; call `abandon` before the next append.

        """
        files = self._files
        if self._fd < 0:
            self._start()
        data = b"".join(lines)
        write_all(files, self._fd, data)
        files.sync(self._fd)
        whole = files.is_at(self._fd, self._path)
        if not whole:
            self._fd = self._restored(self._fd, self._path, self._kept + len(data))
        self._kept += len(data)
        self.tree.extend(leaves)
        return whole

    def roll(self) -> None:
        """End the segment; the next append begins a new one."""
        if self._fd >= 0:
            self._files.close(self._fd)
            self._fd = -1

    def abandon(self) -> tuple[str, int]:
        """Give the segment up after a failure: its name, and how many of its bytes count."""
        name, kept = self._path.name, self._kept
        self.roll()
        if kept == 0:
            # If it stays, the next segment gets another name, and readers prefer the later one.
            with suppress(OSError):
                self._files.unlink(self._path)
        return name, kept

    def publish(self) -> None:
        """Sign the tree as it is and make the checkpoint durable.

        Raises:
            OSError: the checkpoint may be in checkpoints.log only; publishing again is safe.

        """
        checkpoint = Checkpoint(self._signer.name, self.tree.size, self.tree.root())
        note = self._signer.sign(checkpoint).encode()
        self._note(note + b"\n")
        replace_file(self._files, self._folder.checkpoint, note)
        self.signed = checkpoint.size

    def close(self) -> None:
        """Give the files and the lock back."""
        self.roll()
        if self._notes >= 0:
            self._files.close(self._notes)
        self._notes = -1
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def _start(self) -> None:
        self._path = self._folder.free_segment(self.tree.size)
        self._kept = 0
        self._fd = self._files.create(self._path)
        self._files.sync_folder(self._folder.wal)

    def _note(self, note: bytes) -> None:
        files, path = self._files, self._folder.checkpoints
        if self._notes < 0:
            self._notes = files.append_to(path)
            self._notes_kept = os.fstat(self._notes).st_size
        elif not files.is_at(self._notes, path):
            self._notes = self._restored(self._notes, path, self._notes_kept)
        files.truncate(self._notes, self._notes_kept)  # half a note of a failed publish
        write_all(files, self._notes, note)
        files.sync(self._notes)
        self._notes_kept += len(note)

    def _restored(self, source: int, path: Path, size: int) -> int:
        """Write a file again under its name, for somebody removed or replaced it; descriptor."""
        files = self._files
        beside = path.with_name(path.name + ".tmp")
        target = files.append_to(beside)
        files.truncate(target, 0)
        for offset in range(0, size, _COPY):
            write_all(files, target, files.read_at(source, min(_COPY, size - offset), offset))
        files.sync(target)
        if path.exists():
            files.rename(path, self._folder.quarantine / f"{path.name}.planted")
        files.rename(beside, path)
        files.sync_folder(path.parent)
        files.close(source)
        return target
