"""Checking a log without the proxy, and while it writes: one pass, constant memory.

Trusted is the key in log.json, or better the `vkey` that the caller kept elsewhere.  What a
holder of both disk and key does (cutting back to an older checkpoint, writing another history)
shows only against a checkpoint that was remembered elsewhere: give it as `remembered`.
"""

from base64 import b64encode
from pathlib import Path

from .checkpoint import Checkpoint, NoteError, Verifier
from .failure import LedgerDamaged
from .layout import Folder, Identity
from .notes import Note, newest, notes
from .pairing import Pairing
from .record import Head
from .report import Fault, Log, Report
from .walk import Walk


def verify(directory: Path, *, vkey: str = "", remembered: Checkpoint | None = None) -> Report:
    """Verify the log in `directory`, or every log in its sub-folders.

    `remembered` is compared with the log of the same origin.
    """
    report = Report()
    folders = [Folder(path) for path in logs_in(directory)]
    if not folders:
        report.add(Fault.UNREADABLE, str(directory), "there is no log here")
    for folder in folders:
        log = Log(str(folder.root))
        report.logs.append(log)
        try:
            _verify_one(folder, log, report, (vkey, remembered))
        except (OSError, LedgerDamaged, NoteError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            report.add(Fault.UNREADABLE, str(folder.root), reason or "cannot be read")
    return report


def logs_in(directory: Path) -> list[Path]:
    """The folders of logs: the directory itself, or those right under it."""
    marks = ("log.json", "wal", "checkpoints.log")
    if any((directory / mark).exists() for mark in marks):
        return [directory]
    if not directory.is_dir():
        return []
    return sorted(path.parent for path in directory.glob("*/log.json"))


def _verify_one(
    folder: Folder, log: Log, report: Report, known: tuple[str, Checkpoint | None]
) -> None:
    identity = Identity.read(folder)
    log.origin = identity.origin
    vkey, remembered = known
    if vkey and vkey not in identity.vkeys:
        report.add(Fault.BAD_SIGNATURE, "log.json", "names another key than the one given")
    if remembered and remembered.origin != identity.origin:
        remembered = None
    # The order matters while a proxy writes: what is signed first, then what must be there.
    signed = Signed(folder, identity.verifier(), log, report)
    segments = folder.segments()
    walk = Walk(identity, signed.size, report)
    pairing = Pairing(log, report)
    marks = [mark for mark in (signed.newest, remembered) if mark]

    def follow(head: Head) -> None:
        pairing.follow(head)
        if walk.whole:
            signed.compare(walk, marks)

    walk.run(segments, follow)
    pairing.finish()
    log.records = walk.due
    if walk.whole:
        log.root = b64encode(walk.tree.root()).decode()
    _judge_end(walk, signed, remembered, pairing)


def _judge_end(
    walk: Walk, signed: "Signed", remembered: Checkpoint | None, pairing: Pairing
) -> None:
    signed.finish()
    report = signed.report
    if walk.due < signed.size:
        gone = f"records {walk.due} to {signed.size - 1}"
        report.add(Fault.TRUNCATE, gone, "signed, but no longer there")
    elif pairing.closed and walk.due > signed.size:
        detail = "the log was closed, but no checkpoint covers its end"
        report.add(Fault.UNSIGNED, f"records {signed.size} to {walk.due - 1}", detail)
    elif not signed.size:
        report.add(Fault.UNSIGNED, "checkpoint", "there is none")
    if remembered and remembered.size > walk.due:
        detail = f"{remembered.size} records were seen before, now there are {walk.due}"
        report.add(Fault.ROLLBACK, "log", detail)


class Signed:
    """The checkpoints, in step with the walk."""

    def __init__(self, folder: Folder, verifier: Verifier, log: Log, report: Report) -> None:
        self.report = report
        self.newest: Checkpoint | None = None
        try:
            self.newest = newest(folder.checkpoint, verifier)
        except NoteError as error:
            report.add(Fault.BAD_SIGNATURE, "checkpoint", str(error))
        self._log = log
        self._same = 0
        self._last = Checkpoint("", 0, b"")
        self._seen_newest = self.newest is None
        self._good = 0
        path = folder.checkpoints
        limit = path.stat().st_size if path.exists() else 0
        last = 0
        if limit:
            for note in notes(path, verifier, limit):
                last = max(last, note.checkpoint.size if note.checkpoint else 0)
        self.size = max(last, self.newest.size if self.newest else 0)
        log.signed = self.size
        self._notes = notes(path, verifier, limit) if limit else iter(())
        self._next = self._advance()

    def compare(self, walk: Walk, marks: list[Checkpoint]) -> None:
        """Hold the root of the records so far against every checkpoint of that size."""
        while self._next and self._next.size <= walk.tree.size:
            self._hold(walk, self._next, Fault.EDIT)
            self._next = self._advance()
        for mark in marks:
            if mark.size == walk.tree.size:
                self._hold(walk, mark, Fault.FORK)

    def finish(self) -> None:
        """Read the notes that are left, and judge the newest checkpoint."""
        while self._next:
            self._next = self._advance()
        if not self._seen_newest:
            detail = "checkpoints.log does not hold the newest checkpoint"
            self.report.add(Fault.ROLLBACK, "checkpoints.log", detail)

    def _hold(self, walk: Walk, checkpoint: Checkpoint, fault: Fault) -> None:
        size = walk.tree.size
        if not walk.whole or checkpoint.size != size:
            return
        if walk.tree.root() == checkpoint.root:
            self._good = size
            return
        walk.whole = False
        place = f"records {self._good} to {size - 1}"
        self.report.add(fault, place, "changed, added or removed, and all numbers made to fit")

    def _advance(self) -> Checkpoint | None:
        """The next checkpoint that may be compared; faulty ones are reported."""
        for note in self._notes:
            checkpoint = self._judged(note)
            if checkpoint:
                return checkpoint
        return None

    def _judged(self, note: Note) -> Checkpoint | None:
        place = f"checkpoints.log, note {note.number}"
        checkpoint = note.checkpoint
        if checkpoint is None:
            fault = Fault.TORN if note.torn else Fault.BAD_SIGNATURE
            self.report.add(fault, place, note.fault)
            return None
        self._log.checkpoints += 1
        last, self._last = self._last, checkpoint
        if checkpoint.size < last.size:
            self.report.add(Fault.ROLLBACK, place, f"{checkpoint.size} after {last.size} records")
            return None
        for other in (last, self.newest):
            if other and other.size == checkpoint.size and other.root != checkpoint.root:
                self.report.add(Fault.FORK, place, f"two roots at {checkpoint.size} records")
        self._seen_newest = self._seen_newest or checkpoint == self.newest
        return checkpoint
