"""What is written: record schema v1.

One `Opening` for each admitted or refused request, one `Closing` for each opening, and events of
the log itself.  Absent facts are absent, never null.  Times are microseconds, spans are half-open
offsets in characters; no record holds text of a prompt or an answer.  The ledger adds `v` (schema
version), `n` (index in the log), `log` (short id of the log) and `t2` (when it was taken).
"""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from .canonical import MAX_INT, canonical, check
from .failure import RecordError

SCHEMA = 1

Int = Annotated[int, msgspec.Meta(ge=-MAX_INT, le=MAX_INT)]
Span = tuple[Int, Int]


def new_id() -> str:
    """A fresh record id: 128 random bits as 22 characters of base64url."""
    return urlsafe_b64encode(secrets.token_bytes(16))[:22].decode()


class Part(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A part of a record; fields that keep their defaults are not written."""


class Request(Part):
    """`req`: what was asked.  Strings the client wrote are cut at the lengths given here."""

    id: str
    """The request id that the client is told, by which `show` finds the record."""
    cid: str = ""
    """The client's own request id: untrusted, 128 characters."""
    trace: str = ""
    span: str = ""
    api: str = ""
    op: str = ""
    stream: bool = False
    bytes: Int = 0
    ip: str = ""
    ua: str = ""
    """User agent: untrusted, 128 characters."""
    method: str = ""
    """Untrusted, 16 characters."""
    path: str = ""
    """Untrusted, 256 characters."""

    def __post_init__(self) -> None:
        """Cut what the client wrote."""
        self.cid = self.cid[:128]
        self.ua = self.ua[:128]
        self.method = self.method[:16]
        self.path = self.path[:256]


class Principal(Part):
    """`who`: on whose behalf.  `key` is the name of the key, never the key."""

    tenant: str = ""
    sub: str = ""
    kind: str = ""
    auth: str = ""
    key: str = ""


class Policy(Part):
    """`pol`: what it was judged by.  `sha` is the digest of the compiled policy, 32 hex digits."""

    id: str = ""
    ver: str = ""
    sha: str = ""
    rules: list[str] = []


class Find(Part):
    """`find[]`: one run of one detector, passes and errors too."""

    det: str
    verdict: Literal["pass", "hit", "error", "timeout", "skip"]
    ver: str = ""
    phase: Literal["in", "out", "tool"] = "in"
    cat: str = ""
    n: Int = 0
    """How many findings; `spans` may hold fewer."""
    spans: list[Span] = []
    act: str = ""
    rule: str = ""
    dur: Int = 0
    """Microseconds."""
    src: str = ""
    """Where in the body: a path of keys and indices, never text."""


class Skip(Part):
    """`skip[]`: a place that was not inspected."""

    where: str
    kind: str = msgspec.field(default="", name="type")
    bytes: Int = 0


class Attempt(Part):
    """`route.att[]`: one try at one engine; `dur` in microseconds."""

    ep: str
    code: Int = 0
    err: str = ""
    dur: Int = 0


class Route(Part):
    """`route`: `req` is the model as asked (untrusted, 128 characters)."""

    req: str = ""
    model: str = ""
    pool: str = ""
    att: list[Attempt] = []

    def __post_init__(self) -> None:
        """Cut what the client wrote."""
        self.req = self.req[:128]


class Use(Part):
    """`use`: tokens; `est` tells that they were estimated."""

    input: Int = msgspec.field(default=0, name="in")
    out: Int = 0
    est: bool = False


class Latency(Part):
    """`lat`: microseconds; `ovh` is the proxy's own share, `audit` the wait for this log."""

    total: Int = 0
    ttft: Int = 0
    ovh: Int = 0
    audit: Int = 0


class Output(Part):
    """`out`: length of the answer's text in characters and the reasons it finished for."""

    len: Int = 0
    fin: list[str] = []


class Opening(Part, tag_field="k", tag="llm.decision"):
    """The decision on one request; durable before anything is released."""

    req: Request
    act: str
    """allow, flag, redact, block, or error."""
    id: str = msgspec.field(default_factory=new_id)
    t: Int = 0
    """When the request came in, microseconds UTC; 0 means when the record was taken."""
    why: str = ""
    who: Principal | msgspec.UnsetType = msgspec.UNSET
    pol: Policy | msgspec.UnsetType = msgspec.UNSET
    find: list[Find] = []
    skip: list[Skip] = []
    route: Route | msgspec.UnsetType = msgspec.UNSET


class Closing(Part, tag_field="k", tag="llm.completion"):
    """How one request ended; durable before the last byte is released."""

    ref: str
    """`Opening.id`."""
    code: Int
    """HTTP status given to the client."""
    st: Literal["complete", "aborted"]
    id: str = msgspec.field(default_factory=new_id)
    t: Int = 0
    err: str = ""
    act: str = ""
    why: str = ""
    find: list[Find] = []
    skip: list[Skip] = []
    route: Route | msgspec.UnsetType = msgspec.UNSET
    use: Use | msgspec.UnsetType = msgspec.UNSET
    lat: Latency | msgspec.UnsetType = msgspec.UNSET
    out: Output | msgspec.UnsetType = msgspec.UNSET


Record = Opening | Closing | Mapping[str, Any]
"""What a ledger takes.  A mapping must have `k`, for example "admin.reload"."""


class Head(msgspec.Struct):
    """What readers need of every record to follow the log; unknown fields are ignored."""

    n: int
    log: str
    k: str
    id: str = ""
    ref: str = ""


class Stamp(msgspec.Struct, frozen=True):
    """What the ledger adds: index, short id of the log, and time in microseconds UTC."""

    n: int
    log: str
    t2: int


def encode(record: Record, stamp: Stamp) -> bytes:
    """The canonical bytes of one record.

    Raises:
        RecordError: for floats, null, big integers, wrong types and keys, or more than 32 KiB.

    """
    fields = _fields(record)
    fields["v"] = SCHEMA
    fields["n"] = stamp.n
    fields["log"] = stamp.log
    fields["t2"] = stamp.t2
    fields.setdefault("t", stamp.t2)
    return canonical(fields)


def _fields(record: Record) -> dict[str, Any]:
    if isinstance(record, Opening | Closing):
        fields: dict[str, Any] = msgspec.to_builtins(record)
        try:
            # msgspec does not check on construction; this pass, in C, is the float guard.
            msgspec.convert(fields, type(record))
        except msgspec.ValidationError as error:
            raise RecordError(str(error)) from error
        return fields
    check(record)
    if not isinstance(record.get("k"), str):
        raise RecordError("a record names its kind in `k`")
    fields = dict(record)
    fields.setdefault("id", new_id())
    return fields
