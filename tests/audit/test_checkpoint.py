import subprocess
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tidegate.audit import Checkpoint, NoteError, Signer, Verifier

NAME = "gateway.example/audit/1"
CHECKPOINT = Checkpoint(NAME, 5, bytes(range(32)))


def test_a_note_opens_with_the_key_that_signed_it() -> None:
    signer = Signer.generate(NAME)

    assert Verifier(signer.vkey).open(signer.sign(CHECKPOINT)) == CHECKPOINT


def test_the_text_is_origin_size_and_root() -> None:
    expected = f"{NAME}\n5\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"

    assert CHECKPOINT.text() == expected


def test_a_public_key_text_written_by_go_is_read() -> None:
    # The key of Go's checksum database, printed in golang.org/x/mod.
    text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

    assert Verifier(text).name == "sum.golang.org"


def test_a_signer_survives_its_text() -> None:
    signer = Signer.generate(NAME)

    assert Signer.parse(signer.skey).vkey == signer.vkey


def test_openssl_verifies_the_signature(tmp_path: Path) -> None:
    signer = Signer.generate(NAME)
    text, line = signer.sign(CHECKPOINT).split("\n\n")
    public = Ed25519PublicKey.from_public_bytes(b64decode(signer.vkey.split("+", 2)[2])[1:])
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "key.pem").write_bytes(pem)
    (tmp_path / "text").write_text(text + "\n")
    (tmp_path / "signature").write_bytes(b64decode(line.split(" ")[2])[4:])
    command = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-rawin",
        "-inkey",
        "key.pem",
        "-sigfile",
        "signature",
        "-in",
    ]

    good = subprocess.run([*command, "text"], cwd=tmp_path, capture_output=True, check=False)
    (tmp_path / "text").write_text(text.replace("5", "6", 1) + "\n")
    bad = subprocess.run([*command, "text"], cwd=tmp_path, capture_output=True, check=False)

    assert (good.returncode, bad.returncode) == (0, 1)


def test_lines_of_other_keys_are_ignored() -> None:
    signer, other = Signer.generate(NAME), Signer.generate("witness.example/w")
    note = signer.sign(CHECKPOINT) + other.sign(CHECKPOINT).split("\n\n")[1]

    assert Verifier(signer.vkey).open(note) == CHECKPOINT
    assert Verifier(other.vkey).open(note) == CHECKPOINT


def test_a_bad_second_signature_of_the_same_key_is_refused() -> None:
    signer = Signer.generate(NAME)
    other = signer.sign(Checkpoint(NAME, 6, bytes(32))).split("\n\n")[1]

    with pytest.raises(NoteError):
        Verifier(signer.vkey).open(signer.sign(CHECKPOINT) + other)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n5\n", "\n6\n"),
        ("\n5\n", "\n05\n"),
        ("\n\n", "\n"),
        ("— ", "- "),
        (f"— {NAME} ", f"— {NAME} A"),
        ("AAEC", "AAED"),
    ],
)
def test_a_changed_note_is_refused(old: str, new: str) -> None:
    signer = Signer.generate(NAME)

    with pytest.raises(NoteError):
        Verifier(signer.vkey).open(signer.sign(CHECKPOINT).replace(old, new, 1))


def test_an_unfinished_or_foreign_note_is_refused() -> None:
    signer = Signer.generate(NAME)
    note = signer.sign(CHECKPOINT)

    for bad in (note[:-1], "", Signer.generate(NAME).sign(CHECKPOINT)):
        with pytest.raises(NoteError):
            Verifier(signer.vkey).open(bad)


def test_extension_lines_are_refused() -> None:
    with pytest.raises(NoteError):
        Checkpoint.parse(CHECKPOINT.text() + "more\n")


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "x" * 256])
def test_a_name_that_a_note_cannot_carry_is_refused(name: str) -> None:
    with pytest.raises(NoteError):
        Signer.generate(name)


def test_malformed_keys_are_refused() -> None:
    signer = Signer.generate(NAME)
    name, key_id, key = signer.vkey.split("+", 2)
    ecdsa = b64encode(b"\x02" + b64decode(key)[1:]).decode()

    for bad in (
        "",
        name,
        f"{name}+00000000+{key}",
        f"{name}+{key_id}+{key}=",
        f"{name}+{key_id}+A",
        f"{name}+{key_id}+{ecdsa}",
        f"{name}+{key_id}+AAAA",
        f"a b+{key_id}+{key}",
    ):
        with pytest.raises(NoteError):
            Verifier(bad)
    for bad in ("", signer.vkey, signer.skey.replace(key_id, "00000000")):
        with pytest.raises(NoteError):
            Signer.parse(bad)
