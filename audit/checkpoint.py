"""Signed checkpoints: C2SP tlog-checkpoint in a C2SP signed note, with Ed25519.

A checkpoint says "the log `origin` has `size` records under `root`".  Formats:
https://c2sp.org/signed-note, https://c2sp.org/tlog-checkpoint.  Key texts are those of Go's
golang.org/x/mod/sumdb/note, so that its tools read them.
"""

import re
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Self

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

_ED25519 = b"\x01"
_NAME = re.compile(r"[^\s+\x00-\x1f\x7f]{1,255}")
_LINE = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")
_TEXT = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n")


class NoteError(ValueError):
    """A key or note is malformed, or its signature does not hold."""


class Checkpoint(msgspec.Struct, frozen=True):
    """The state of a log at one size; `root` is 32 bytes."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text; extension lines are refused, for this log writes none.

        Raises:
            NoteError: if it is not exactly three well-formed lines.

        """
        match = _TEXT.fullmatch(text)
        if match is None:
            raise NoteError("not a checkpoint")
        return cls(match[1], int(match[2]), b64decode(match[3]))


class Verifier:
    """A public key with the name it signs under."""

    def __init__(self, vkey: str) -> None:
        """Read a key text `name+hex id+base64`.

        Raises:
            NoteError: if it is malformed, of another type, or its id is not its own.

        """
        name, key_id, public = _parts(vkey)
        if key_id != _key_id(name, public):
            raise NoteError("the key's id does not belong to it")
        self.name = name
        self.key_id = key_id
        self._public = Ed25519PublicKey.from_public_bytes(public)

    def open(self, note: str) -> Checkpoint:
        """The checkpoint in a note that this key signed; other keys' lines are ignored.

        Raises:
            NoteError: if there is no signature by this key, or it does not hold.

        """
        text, gap, lines = note.rpartition("\n\n")
        if not gap or not lines.endswith("\n"):
            raise NoteError("not a signed note")
        text += "\n"
        if not any([self._signed(text, line) for line in lines.splitlines()]):  # noqa: C419 - a bad second signature counts
            raise NoteError("not signed by this key")
        return Checkpoint.parse(text)

    def _signed(self, text: str, line: str) -> bool:
        match = _LINE.fullmatch(line)
        if match is None:
            raise NoteError("a signature line is malformed")
        signature = _decoded(match[2])
        if (match[1], signature[:4]) != (self.name, self.key_id):
            return False
        try:
            self._public.verify(signature[4:], text.encode())
        except InvalidSignature as error:
            raise NoteError("the signature does not hold") from error
        return True


class Signer:
    """A private key with the name it signs under.  Its text MUST be kept from other users."""

    def __init__(self, name: str, private: Ed25519PrivateKey) -> None:
        if not _NAME.fullmatch(name):
            raise NoteError("a name has 1 to 255 characters, no space, no plus sign")
        self.name = name
        self._private = private
        self._public = private.public_key().public_bytes_raw()
        self._key_id = _key_id(name, self._public)

    @classmethod
    def generate(cls, name: str) -> Self:
        """A new key."""
        return cls(name, Ed25519PrivateKey.generate())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a private key text.

        Raises:
            NoteError: if it is malformed.

        """
        prefix = "PRIVATE+KEY+"
        if not text.startswith(prefix):
            raise NoteError("not a private key text")
        name, key_id, seed = _parts(text.removeprefix(prefix))
        signer = cls(name, Ed25519PrivateKey.from_private_bytes(seed))
        if signer._key_id != key_id:
            raise NoteError("the key's id does not belong to it")
        return signer

    @property
    def vkey(self) -> str:
        """The public key's text."""
        return self._text(self._public)

    @property
    def skey(self) -> str:
        """The private key's text."""
        return "PRIVATE+KEY+" + self._text(self._private.private_bytes_raw())

    def sign(self, checkpoint: Checkpoint) -> str:
        """The signed note; the caller MUST NOT sign two checkpoints that contradict each other."""
        text = checkpoint.text()
        signature = b64encode(self._key_id + self._private.sign(text.encode())).decode()
        return f"{text}\n— {self.name} {signature}\n"

    def _text(self, key: bytes) -> str:
        return f"{self.name}+{self._key_id.hex()}+{b64encode(_ED25519 + key).decode()}"


def _key_id(name: str, public: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:4]


def _parts(text: str) -> tuple[str, bytes, bytes]:
    match = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})", text)
    if match is None or not _NAME.fullmatch(match[1]):
        raise NoteError("a key is `name+id+base64`")
    key = _decoded(match[3])
    if len(key) != 33 or key[:1] != _ED25519:  # noqa: PLR2004 - type byte and 32 bytes of key
        raise NoteError("not an Ed25519 key")
    return match[1], bytes.fromhex(match[2]), key[1:]


def _decoded(text: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError as error:
        raise NoteError("not base64") from error
    if b64encode(data).decode() != text:
        raise NoteError("not base64 in its only form")
    return data
