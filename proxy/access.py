"""Who calls: API keys against their salted hashes, in constant time.

A configured hash is `sha256$<id>$<salt>$<digest>`: the digest is SHA-256 over salt and key.  The
id finds the entry, so that checking a key costs one lookup and one hash however many callers
there are.  A key made here carries its id (`tg_<id>_<secret>`).  Any other key, one an operator
brings along, has as id the first 8 hex digits of its own plain SHA-256: that gives away 32 bits
of a hash that is in the configuration anyway.  A fast hash is right only for keys nobody can
guess, so `hash_key` refuses short ones; passwords do not belong here.

No key is kept: not in clear, not in a cache.
"""

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .config import AccessKeys
from .errors import Unauthorized

ID_LENGTH = 8
SECRET_LENGTH = 40
"""Base-62 characters: 238 bits."""
LONGEST_KEY = 512
SHORTEST_KEY = 20
"""Characters of a key an operator brings along; shorter ones can be guessed from the hash."""
SALT_BYTES = 16

_LOWER = string.ascii_lowercase + string.digits
_BASE62 = string.ascii_letters + string.digits
_OWN = re.compile(rf"tg_([a-z0-9]{{{ID_LENGTH}}})_[0-9A-Za-z]{{{SECRET_LENGTH}}}", re.ASCII)
_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE | re.ASCII)
_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller that is known, or the anonymous one."""

    name: str
    tenant: str
    routes: tuple[str, ...]
    key_id: str = ""
    """For records; "" for a caller without a key."""

    def may_use(self, route: str) -> bool:
        """Whether the caller may use the route of this name."""
        return "*" in self.routes or any(fnmatchcase(route, glob) for glob in self.routes)


def new_key(choose: Callable[[str], str] = secrets.choice) -> tuple[str, str]:
    """A new random key and its hash; the key is shown once and kept nowhere."""
    key_id = "".join(choose(_LOWER) for _ in range(ID_LENGTH))
    secret = "".join(choose(_BASE62) for _ in range(SECRET_LENGTH))
    key = f"tg_{key_id}_{secret}"
    return key, hash_key(key)


def hash_key(key: str, salt: bytes | None = None) -> str:
    """The hash to configure for a key of any format.

    Raises ValueError, without the key, if it is shorter than SHORTEST_KEY, longer than
    LONGEST_KEY, or holds anything but visible ASCII.
    """
    if len(key) < SHORTEST_KEY or not _KEY.fullmatch(key):
        raise ValueError(
            f"a key has {SHORTEST_KEY} to {LONGEST_KEY} visible ASCII characters and no blank"
        )
    salt = secrets.token_bytes(SALT_BYTES) if salt is None else salt
    return f"sha256${key_id(key)}${salt.hex()}${_digest(salt, key).hex()}"


def key_id(key: str) -> str:
    """The 8 characters that find the key's entry; see the top of the file."""
    own = _OWN.fullmatch(key)
    return own[1] if own else hashlib.sha256(key.encode("ascii")).hexdigest()[:ID_LENGTH]


def _digest(salt: bytes, key: str) -> bytes:
    return hashlib.sha256(salt + key.encode("ascii")).digest()


@dataclass(frozen=True, slots=True)
class _Entry:
    salt: bytes
    digest: bytes
    principal: Principal


class Access:
    """The callers of one configuration."""

    def __init__(self, config: AccessKeys) -> None:
        self._entries: Mapping[str, _Entry] = dict(
            _entry(name, key.hash, key.tenant, key.routes) for name, key in config.keys.items()
        )
        anonymous = config.anonymous
        self._anonymous = (
            Principal("anonymous", anonymous.tenant, anonymous.routes)
            if anonymous.enabled
            else None
        )
        self._anywhere = config.anonymous_anywhere
        # Compared with when the id is unknown, so that this takes as long as a wrong key.
        self._nobody = _Entry(
            secrets.token_bytes(SALT_BYTES), secrets.token_bytes(32), Principal("", "", ())
        )

    def authenticate(
        self,
        authorization: list[str] | tuple[str, ...],
        x_api_key: list[str] | tuple[str, ...],
        *,
        peer_is_loopback: bool,
    ) -> Principal:
        """The caller, from all values of the two headers.

        Raises Unauthorized with the code "missing_api_key", "invalid_api_key" or
        "conflicting_api_keys".  Where callers without a key are served and no key is configured
        at all, credentials are not looked at: clients that insist on sending some work.
        """
        guest = self._guest(peer_is_loopback=peer_is_loopback)
        if guest is not None and not self._entries:
            return guest
        if not authorization and not x_api_key:
            if guest is None:
                raise Unauthorized(
                    "missing_api_key",
                    "No API key was given. Send 'Authorization: Bearer KEY' or 'x-api-key'.",
                )
            return guest
        return self._known(_presented(authorization, x_api_key))

    def _guest(self, *, peer_is_loopback: bool) -> Principal | None:
        return self._anonymous if peer_is_loopback or self._anywhere else None

    def _known(self, key: str) -> Principal:
        entry = self._entries.get(key_id(key), self._nobody)
        if not hmac.compare_digest(_digest(entry.salt, key), entry.digest):
            raise _invalid()
        return entry.principal


def _entry(name: str, text: str, tenant: str, routes: tuple[str, ...]) -> tuple[str, _Entry]:
    """The id and the entry; the configuration has checked the form of the text."""
    _, found, salt, digest = text.split("$")
    principal = Principal(name, tenant, routes, found)
    return found, _Entry(bytes.fromhex(salt), bytes.fromhex(digest), principal)


def _presented(
    authorization: list[str] | tuple[str, ...], x_api_key: list[str] | tuple[str, ...]
) -> str:
    """The one key that was sent.  Two headers that agree are one; that cannot deceive anyone."""
    if len(authorization) > 1 or len(x_api_key) > 1:
        raise Unauthorized("conflicting_api_keys", "An API key header was given more than once.")
    keys = set(x_api_key)
    for value in authorization:
        bearer = _BEARER.fullmatch(value)
        if bearer is None:
            raise Unauthorized(
                "invalid_api_key", "The Authorization header must be 'Bearer' and an API key."
            )
        keys.add(bearer[1])
    if len(keys) > 1:
        raise Unauthorized("conflicting_api_keys", "Two different API keys were given.")
    key = keys.pop()
    if not _KEY.fullmatch(key):
        raise _invalid()
    return key


def _invalid() -> Unauthorized:
    """One answer for unknown, wrong and malformed keys: it tells nothing about which exist."""
    return Unauthorized("invalid_api_key", "The API key is not valid.")
