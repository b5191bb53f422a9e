"""What lies where in a log's folder, and who the log is.

log.json          origin, short id, public keys; written once
log.key           the private key, readable by its owner only
LOCK              held while a process writes; never deleted
wal/N.jsonl       segments, N the index of the first record
checkpoint        the newest signed checkpoint
checkpoints.log   every signed checkpoint, each followed by an empty line
quarantine/       torn bytes that recovery cut off
"""

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Self

import msgspec
import orjson

from .checkpoint import NoteError, Signer, Verifier
from .failure import LedgerDamaged, LedgerFailed, LedgerLocked
from .files import Files, replace_file
from .frame import MAX_LINE

_SEGMENT = re.compile(r"([0-9]{12})(?:-([0-9]{1,6}))?\.jsonl")
_MAX_TEXT = 65_536
"""log.json and the key are far smaller; a reader must not swallow a planted giant."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The places in one log's folder."""

    root: Path

    @property
    def identity(self) -> Path:
        """log.json."""
        return self.root / "log.json"

    @property
    def key(self) -> Path:
        """The private key."""
        return self.root / "log.key"

    @property
    def wal(self) -> Path:
        """The segments."""
        return self.root / "wal"

    @property
    def checkpoint(self) -> Path:
        """The newest checkpoint."""
        return self.root / "checkpoint"

    @property
    def checkpoints(self) -> Path:
        """All checkpoints."""
        return self.root / "checkpoints.log"

    @property
    def quarantine(self) -> Path:
        """What recovery cut off."""
        return self.root / "quarantine"

    def segments(self) -> list["Segment"]:
        """The segments in order; none if there is no folder for them."""
        found: list[Segment] = []
        for path in self.wal.iterdir() if self.wal.is_dir() else ():
            match = _SEGMENT.fullmatch(path.name)
            if match:
                found.append(Segment(int(match[1]), int(match[2] or 0), path))
        return sorted(found, key=lambda segment: (segment.first, segment.attempt))

    def free_segment(self, first: int) -> Path:
        """A name for a segment that begins with record `first` and is not taken yet."""
        taken = [s.attempt for s in self.segments() if s.first == first]
        suffix = f"-{max(taken) + 1}" if taken else ""
        return self.wal / f"{first:012d}{suffix}.jsonl"


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of records; of two with the same first record the later attempt counts."""

    first: int
    attempt: int
    path: Path

    def lines(self) -> Iterator[bytes]:
        """The lines; one longer than any record comes in pieces, one being written ends it."""
        with self.path.open("rb") as file:
            while line := file.readline(MAX_LINE):
                yield line
                if len(line) < MAX_LINE and not line.endswith(b"\n"):
                    return  # a writer may add the rest: do not take that for a line


def with_stops(segments: Sequence[Segment]) -> list[tuple[Segment, int | None]]:
    """Each segment with the index at which the next one takes over; None for the last."""
    stops: list[int | None] = [segment.first for segment in segments[1:]]
    return list(zip(segments, [*stops, None], strict=False))


class Identity(msgspec.Struct, frozen=True):
    """Who a log is: the content of log.json."""

    origin: str
    log: str
    """Short id, in every record: 12 hex digits of the SHA-256 of the first key."""
    vkeys: list[str]
    created: int
    """Microseconds UTC."""
    profile: str = "rfc6962-sha256"
    schema: int = 1

    @classmethod
    def of(cls, signer: Signer, created: int) -> Self:
        """The identity of a new log."""
        return cls(signer.name, short_id(signer.vkey), [signer.vkey], created)

    @classmethod
    def read(cls, folder: Folder) -> Self:
        """Read log.json.

        Raises:
            LedgerDamaged: if it is malformed or contradicts itself.
            OSError: if it cannot be read.

        """
        try:
            identity = msgspec.json.decode(_small(folder.identity), type=cls)
            verifier = identity.verifier()
        except (msgspec.DecodeError, NoteError, UnicodeDecodeError, RecursionError) as error:
            raise LedgerDamaged("log.json is malformed") from error
        if verifier.name != identity.origin or short_id(identity.vkeys[0]) != identity.log:
            raise LedgerDamaged("log.json names a key that is not this log's")
        return identity

    def verifier(self) -> Verifier:
        """What checks this log's signatures."""
        if not self.vkeys:
            raise NoteError("no key")
        return Verifier(self.vkeys[0])

    def json(self) -> bytes:
        """The content of log.json."""
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(msgspec.to_builtins(self), option=options)


def short_id(vkey: str) -> str:
    """The short id of the log that a key signs for."""
    return sha256(vkey.encode()).hexdigest()[:12]


def lock(folder: Folder) -> int:
    """Make the folder if need be and lock it; the descriptor holds the lock until it is closed.

    Raises:
        LedgerLocked: if another process writes this log.
        OSError: if the folder cannot be made or opened.

    """
    for path in (folder.root, folder.wal, folder.quarantine):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(
        folder.root / "LOCK", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise LedgerLocked(f"{folder.root} is being written by another process") from error
    return fd


def enrol(folder: Folder, files: Files, origin: str, created: int) -> tuple[Identity, Signer]:
    """The log's identity and key, made on the first start.

    Raises:
        LedgerFailed: if the key is missing or readable by others, or the folder is another log's.

    """
    if not folder.identity.exists():
        if folder.segments():
            raise LedgerDamaged(f"{folder.root} holds records but no log.json")
        if not folder.key.exists():
            signer = Signer.generate(origin)
            replace_file(files, folder.key, f"{signer.skey}\n".encode())
        signer = _signer(folder)
        identity = Identity.of(signer, created)
        replace_file(files, folder.identity, identity.json())
        files.sync_folder(folder.root.parent)
    signer = _signer(folder)
    identity = Identity.read(folder)
    if identity.origin != origin:
        raise LedgerFailed(f"{folder.root} is the log of {identity.origin}, not of {origin}")
    if signer.vkey not in identity.vkeys:
        raise LedgerDamaged("log.key is not the key that log.json names")
    return identity, signer


def _signer(folder: Folder) -> Signer:
    try:
        mode = folder.key.stat().st_mode
        if mode & 0o077:
            raise LedgerFailed(f"{folder.key} is open to other users: chmod 600 it")
        return Signer.parse(_small(folder.key).decode().strip())
    except FileNotFoundError as error:
        raise LedgerFailed(f"{folder.key} is missing; without it nothing can be signed") from error
    except (NoteError, UnicodeDecodeError) as error:
        raise LedgerDamaged(f"{folder.key} is malformed") from error


def _small(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_TEXT)
