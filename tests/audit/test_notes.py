from pathlib import Path

import pytest
from tests.audit.logs import ORIGIN

from tidegate.audit import Checkpoint, NoteError, Signer, Verifier
from tidegate.audit.notes import newest, notes

SIGNER = Signer.generate(ORIGIN)
VERIFIER = Verifier(SIGNER.vkey)
CHECKPOINTS = [Checkpoint(ORIGIN, size, bytes([size]) * 32) for size in (1, 3, 9)]
NOTES = [SIGNER.sign(checkpoint).encode() + b"\n" for checkpoint in CHECKPOINTS]
WHOLE = b"".join(NOTES)


def test_all_notes_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.log"
    path.write_bytes(WHOLE)
    read = list(notes(path, VERIFIER))

    assert [note.checkpoint for note in read] == CHECKPOINTS
    assert read[-1].end == len(WHOLE)
    assert not read[-1].torn


@pytest.mark.parametrize("cut", range(len(NOTES[0]) + 1, len(NOTES[0] + NOTES[1])))
def test_a_torn_note_is_told_at_every_byte(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "checkpoints.log"
    path.write_bytes(WHOLE[:cut])
    read = list(notes(path, VERIFIER))

    assert [note.checkpoint for note in read] == [CHECKPOINTS[0], None]
    assert (read[1].torn, read[1].end) == (True, len(NOTES[0]))


def test_only_the_first_bytes_are_read_if_so_asked(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.log"
    path.write_bytes(WHOLE)

    assert len(list(notes(path, VERIFIER, len(NOTES[0])))) == 1


def test_a_bad_note_does_not_hide_those_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.log"
    path.write_bytes(NOTES[0] + NOTES[1].replace(b"\n3\n", b"\n4\n") + NOTES[2])
    read = list(notes(path, VERIFIER))

    assert [CHECKPOINTS[0], None, CHECKPOINTS[2]] == [note.checkpoint for note in read]
    assert read[1].fault == "the signature does not hold"


def test_bytes_that_are_no_text_are_a_bad_note(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.log"
    path.write_bytes(b"\xff\n\n\n\n\n" + NOTES[0])

    assert CHECKPOINTS[0] in [note.checkpoint for note in notes(path, VERIFIER)]


def test_a_file_without_gaps_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.log"
    path.write_bytes(b"x\n" * 1000)

    assert len(list(notes(path, VERIFIER))) > 10


def test_the_newest_checkpoint_is_read(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    absent = newest(path, VERIFIER)
    path.write_text(SIGNER.sign(CHECKPOINTS[2]))

    assert (absent, newest(path, VERIFIER)) == (None, CHECKPOINTS[2])


@pytest.mark.parametrize("data", [b"", b"\xff", b"junk\n"])
def test_a_malformed_newest_checkpoint_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(data)

    with pytest.raises(NoteError):
        newest(path, VERIFIER)
