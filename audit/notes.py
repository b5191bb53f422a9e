"""The file of all checkpoints, read one note at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .checkpoint import Checkpoint, NoteError, Verifier

_MAX_LINE = 4096
_MAX_LINES = 16
"""Three lines of text, an empty one, and room for a dozen signatures."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note and where it ends; `checkpoint` is None when `fault` says why not."""

    number: int
    checkpoint: Checkpoint | None
    fault: str
    end: int
    """Byte offset behind the note; of a torn one, the offset at which it begins."""
    torn: bool = False


def notes(path: Path, verifier: Verifier, limit: int | None = None) -> Iterator[Note]:
    """Every note in the first `limit` bytes of checkpoints.log; the last one may be torn."""
    number = offset = end = 0
    lines: list[bytes] = []
    with path.open("rb") as file:
        while line := file.readline(
            _MAX_LINE if limit is None else min(_MAX_LINE, limit - offset)
        ):
            offset += len(line)
            if line != b"\n" or len(lines) == 3:  # noqa: PLR2004 - the gap before the signatures
                lines.append(line)
                if len(lines) <= _MAX_LINES:
                    continue
            yield judged(number, b"".join(lines), verifier, offset)
            number, end, lines = number + 1, offset, []
    if lines:
        yield Note(number, None, "torn", end, torn=True)


def judged(number: int, note: bytes, verifier: Verifier, end: int = 0) -> Note:
    """One note, its signature checked."""
    try:
        return Note(number, verifier.open(note.decode()), "", end)
    except (NoteError, UnicodeDecodeError) as error:
        return Note(number, None, str(error), end)


def newest(path: Path, verifier: Verifier) -> Checkpoint | None:
    """The checkpoint in the file `checkpoint`; None if there is no such file.

    Raises:
        NoteError: if it is malformed or not signed by this log.

    """
    try:
        with path.open("rb") as file:
            return verifier.open(file.read(_MAX_LINE * _MAX_LINES).decode())
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise NoteError("not text") from error
