"""The values a configuration is made of: durations, sizes, names, addresses.

Each type reads what a person writes, in a file or an environment variable (always a text), and
says what is wrong in words.  Inside, durations are seconds (float) and sizes are bytes (int).
"""

import math
import re
from collections.abc import Mapping
from ipaddress import ip_address
from types import MappingProxyType
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from ...policies.shape import mistake

_UNIT_SECONDS: Mapping[str, float] = MappingProxyType(
    {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
)
_UNIT_BYTES: Mapping[str, int] = MappingProxyType(
    {
        "": 1, "b": 1,
        "kb": 1000, "mb": 1000**2, "gb": 1000**3,
        "kib": 1024, "mib": 1024**2, "gib": 1024**3,
    }
)  # fmt: skip
_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([A-Za-z]{0,3})", re.ASCII)
_NAME = re.compile(r"[a-z0-9]+(?:[-_]?[a-z0-9]+)*", re.ASCII)
_HOST = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?", re.ASCII)
_KEY_HASH = re.compile(r"sha256\$[a-z0-9]{8}\$[0-9a-f]{32}\$[0-9a-f]{64}", re.ASCII)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")  # RFC 9110 section 5.6.2
_LAST_PORT = 65_535
LONGEST_SECRET = 4096


def _seconds(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        amount, unit = float(value), "s"
    else:
        found = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
        unit = found[2].lower() if found else "?"
        amount = float(found[1]) if found else -1.0
    if unit not in _UNIT_SECONDS or not 0 <= amount < math.inf:
        raise mistake(
            "it must be a duration: a number with ms, s, m, h or d", "write it like 250ms or 5s"
        )
    return amount * _UNIT_SECONDS[unit]


def _bytes(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
    unit = found[2].lower() if found else "?"
    if not found or unit not in _UNIT_BYTES:
        raise mistake(
            "it must be a size: a number with B, KiB, MiB, GiB, kB, MB or GB",
            "write it like 32MiB",
        )
    return round(float(found[1]) * _UNIT_BYTES[unit])


def split(value: Any) -> Any:
    """Read `a, b` as a list: a variable has no brackets, and one name needs none."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _name(value: Any) -> Any:
    if isinstance(value, str) and not _NAME.fullmatch(value):
        raise mistake(
            "a name is made of a-z, 0-9 and single '-' or '_' between them, so that a variable"
            " can spell it",
            "rename it, like 'gpu-1'",
        )
    return value


def _host(value: Any) -> Any:
    if isinstance(value, str) and not (_HOST.fullmatch(value) or is_address(value)):
        raise mistake("it must be a host name or an IP address", "write it like 127.0.0.1 or ::1")
    return value


def is_address(host: str) -> bool:
    """Whether it is an IP address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it: 127.0.0.0/8, ::1, localhost."""
    return ip_address(host).is_loopback if is_address(host) else host == "localhost"


def _url(value: Any) -> Any:
    """An http or https address without query, and without its last slash."""
    if not isinstance(value, str):
        return value
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:  # Python's own words may quote the value, credentials and all
        raise mistake(
            "its host or port cannot be read", "write it like http://10.0.0.7:8000", hide=True
        ) from error
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise mistake("it holds a user or password", "use api_key_env or api_key_file", hide=True)
    if parts.query or parts.fragment or value.endswith(("?", "#")):
        fix = "remove what follows the path"
        raise mistake("it holds a query or a fragment, perhaps with a secret", fix, hide=True)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise mistake("it must be an http or https address", "write it like http://10.0.0.7:8000")
    if not _is_plain(value) or port == 0:
        raise mistake("its host, port or path is not usable", "write it like http://10.0.0.7:8000")
    return value.rstrip("/")


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text and "\\" not in text


def _path(value: Any) -> Any:
    if isinstance(value, str) and not (value.startswith("/") and _is_plain(value)):
        raise mistake("it must be a path on the server", "write it like /health")
    return value


def _sendable(value: SecretStr) -> SecretStr:
    if not fits_header(value.get_secret_value()):
        raise mistake(
            "it must be one line of printable ASCII, to be sent as a header",
            "remove line ends, blanks around it and other characters",
            hide=True,
        )
    return value


def fits_header(text: str) -> bool:
    """Whether it can be sent as the value of a header and comes back the same."""
    return 0 < len(text) <= LONGEST_SECRET and _is_line(text)


def _is_line(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()


def _header_name(value: Any) -> Any:
    if isinstance(value, str) and not _TOKEN.fullmatch(value):
        raise mistake("it is not the name of a header", "write it like 'authorization'")
    return value


def _model_name(value: Any) -> Any:
    if isinstance(value, str) and (not value.isprintable() or value != value.strip()):
        raise mistake("it must be printable, without blanks around it", "write the bare name")
    return value


def _key_hash(value: Any) -> Any:
    if isinstance(value, str) and not _KEY_HASH.fullmatch(value):
        raise mistake(
            "it must be sha256$<id>$<salt>$<hash>, never the key itself",
            "make one with `tidegate key new`",
            hide=True,
        )
    return value


_Item = TypeVar("_Item")


def _frozen(value: Mapping[str, _Item]) -> Mapping[str, _Item]:
    return MappingProxyType(dict(value))


Seconds = Annotated[float, BeforeValidator(_seconds), Field(le=7 * 86_400)]
"""A duration, in seconds; at most a week."""
PositiveSeconds = Annotated[Seconds, Field(ge=0.001)]
Bytes = Annotated[int, BeforeValidator(_bytes), Field(ge=1, le=2**40)]
"""A size in bytes."""
Name = Annotated[str, BeforeValidator(_name), Field(min_length=1, max_length=64)]
Names = Annotated[tuple[Name, ...], BeforeValidator(split), Field(min_length=1)]
ModelName = Annotated[str, BeforeValidator(_model_name), Field(min_length=1, max_length=200)]
ModelGlobs = Annotated[tuple[ModelName, ...], BeforeValidator(split), Field(min_length=1)]
RouteGlob = Annotated[str, Field(pattern=r"^[a-z0-9_*-]+$", max_length=64)]
RouteGlobs = Annotated[tuple[RouteGlob, ...], BeforeValidator(split), Field(min_length=1)]
Host = Annotated[str, BeforeValidator(_host)]
Port = Annotated[int, Field(ge=0, le=_LAST_PORT)]
Url = Annotated[str, BeforeValidator(_url), Field(max_length=2000)]
UrlPath = Annotated[str, BeforeValidator(_path), Field(max_length=500)]
UrlPaths = Annotated[tuple[UrlPath, ...], BeforeValidator(split), Field(min_length=1)]
HeaderName = Annotated[str, BeforeValidator(_header_name)]
Secret = Annotated[SecretStr, AfterValidator(_sendable)]
"""A text that no repr and no message shows."""
KeyHash = Annotated[str, BeforeValidator(_key_hash)]
Frozen = AfterValidator(_frozen)
"""Turns a map into one that cannot be changed."""
