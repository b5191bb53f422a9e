"""Finding the durable end of a log after whatever happened to its last writer.

Invariant: what is kept is a prefix of what was written, and never shorter than the newest
checkpoint.  A log that is shorter, or has another root at that size, is not repaired and not
signed again: signing would hide a roll-back.  A torn tail is moved to quarantine/.
"""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import orjson

from .checkpoint import Checkpoint, NoteError, Verifier
from .failure import LedgerDamaged
from .files import Files, replace_file
from .frame import record_of, unframed
from .layout import Folder, Segment, with_stops
from .notes import newest, notes
from .record import Head
from .tree import Frontier

_HEAD = msgspec.json.Decoder(Head)


@dataclass(slots=True)
class Recovered:
    """What a log's folder holds."""

    tree: Frontier = field(default_factory=Frontier)
    segment: Segment | None = None
    """The one to go on with."""
    kept: int = 0
    """Bytes of it that count."""
    unclosed: dict[str, None] = field(default_factory=dict)
    """Ids of decisions without completion, oldest first."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """What the log must say about its own recovery."""


def recover(folder: Folder, files: Files, log: str, verifier: Verifier) -> Recovered:
    """Read the log, cut off what is torn, and tell where to go on.

    Raises:
        LedgerDamaged: if what is left contradicts the newest checkpoint, or records are missing.
        OSError: if a file cannot be read or repaired.

    """
    _cut_notes(folder, files, verifier)
    return _Reading(folder, files, log, _newest(folder, verifier)).all()


def _newest(folder: Folder, verifier: Verifier) -> Checkpoint | None:
    try:
        best = newest(folder.checkpoint, verifier)
    except NoteError as error:
        raise LedgerDamaged("the checkpoint is malformed or not signed by this log") from error
    if not folder.checkpoints.exists():
        return best
    for note in notes(folder.checkpoints, verifier):
        if note.checkpoint and (best is None or note.checkpoint.size > best.size):
            best = note.checkpoint
    return best


def _cut_notes(folder: Folder, files: Files, verifier: Verifier) -> None:
    if not folder.checkpoints.exists():
        return
    for note in notes(folder.checkpoints, verifier):
        if note.torn:
            _cut(folder, files, folder.checkpoints, note.end)


class _Reading:
    def __init__(self, folder: Folder, files: Files, log: str, signed: Checkpoint | None) -> None:
        self._folder = folder
        self._files = files
        self._log = log
        self._signed = signed
        self._found = Recovered()

    def all(self) -> Recovered:
        found = self._found
        before: tuple[Segment, int] | None = None
        for segment, stop in with_stops(self._folder.segments()):
            if segment.first != found.tree.size:
                raise LedgerDamaged(f"records before {segment.path.name} are missing")
            found.segment = segment
            found.kept = self._read(segment, stop)
            if stop is None:
                self._end(segment, before)
            elif found.kept or before is None:
                before = (segment, found.kept)
        if self._signed and self._signed.size > found.tree.size:
            raise LedgerDamaged(
                f"{self._signed.size} records were signed, {found.tree.size} are readable"
            )
        return found

    def _read(self, segment: Segment, stop: int | None) -> int:
        """Read the records that count; the byte offset behind the last one."""
        tree, offset = self._found.tree, 0
        for line in segment.lines():
            if tree.size == stop:
                break
            leaf = unframed(line)
            head = head_of(line) if leaf else None
            if leaf is None or head is None or (head.n, head.log) != (tree.size, self._log):
                break
            tree.add(leaf)
            offset += len(line)
            self._follow(head)
        return offset

    def _follow(self, head: Head) -> None:
        unclosed = self._found.unclosed
        if head.k == "llm.decision":
            unclosed[head.id] = None
        elif head.ref:
            unclosed.pop(head.ref, None)
        signed, tree = self._signed, self._found.tree
        if signed and tree.size == signed.size and tree.root() != signed.root:
            raise LedgerDamaged(f"the first {tree.size} records are not those that were signed")

    def _end(self, segment: Segment, before: tuple[Segment, int] | None) -> None:
        """Cut the last segment; if it is still empty, it must answer for the one before."""
        found = self._found
        size = segment.path.stat().st_size
        if self._signed and self._signed.size > found.tree.size:
            return  # damaged, not torn: leave everything as it is
        if size > found.kept:
            cut = _cut(self._folder, self._files, segment.path, found.kept)
            found.events.append(superseded(segment.path.name, found.kept, "torn") | cut)
        if not found.kept and before and before[0].path.stat().st_size > before[1]:
            found.events.insert(0, superseded(before[0].path.name, before[1], "abandoned"))


def head_of(line: bytes) -> Head | None:
    """The head of the record in a whole line; None if it is no record."""
    try:
        return _HEAD.decode(record_of(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def fields_of(line: bytes) -> dict[str, Any]:
    """All fields of the record in a whole line; none if it is no record."""
    try:
        fields = orjson.loads(record_of(line))
    except orjson.JSONDecodeError:
        return {}
    return fields if isinstance(fields, dict) else {}


def superseded(segment: str, kept: int, why: str) -> dict[str, Any]:
    """The record that says how much of a segment counts."""
    return {"k": "log.recovered", "seg": segment, "kept": kept, "why": why}


def _cut(folder: Folder, files: Files, path: Path, size: int) -> dict[str, Any]:
    with path.open("rb") as file:
        file.seek(size)
        torn = file.read()
    digest = sha256(torn).hexdigest()
    replace_file(files, folder.quarantine / f"{path.name}.{size}.{digest[:8]}", torn)
    fd = files.append_to(path)
    try:
        files.truncate(fd, size)
        files.sync(fd)
    finally:
        files.close(fd)
    return {"cut": len(torn), "sha": digest[:32]}
