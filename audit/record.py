"""What is written: record schema v1.

One `Opening` for each admitted or refused request, one `Closing` for each opening, and events of
the log itself.  Absent facts are absent, never null.  Times are microseconds, spans are half-open
offsets in characters; no record holds text of a prompt or an answer.  The ledger sets `v` (schema
version), `n` (index in the log), `log` (short id of the log) and `t2` (when it was taken).

Most records take one pass to write and one to check: the fields below stand in the order of
RFC 8785, and reading the bytes back by the schema refuses what the schema does not know.
"""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from .canonical import MAX_BYTES, MAX_INT, canonical, check, shortened
from .failure import RecordError

SCHEMA = 1

Int = Annotated[int, msgspec.Meta(ge=-MAX_INT, le=MAX_INT)]
Span = tuple[Int, Int]


def new_id() -> str:
    """A fresh record id: 128 random bits as 22 characters of base64url."""
    return urlsafe_b64encode(secrets.token_bytes(16))[:22].decode()


class Part(
    msgspec.Struct,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """A part of a record; fields that keep their defaults are not written.

    Fields MUST stand in the order of their written names: that is the order of RFC 8785, and so
    nothing is left to sort.  Parts form a tree, so the garbage collector need not watch them.
    """


class Asked(Part, kw_only=True):
    """`req` as it is checked: strings are cut when a record is built, not when it is written."""

    api: str = ""
    bytes: Int = 0
    cid: str = ""
    """The client's own request id: untrusted, 128 characters."""
    id: str
    """The request id that the client is told, by which `show` finds the record."""
    ip: str = ""
    method: str = ""
    """Untrusted, 16 characters."""
    op: str = ""
    path: str = ""
    """Untrusted, 256 characters."""
    span: str = ""
    stream: bool = False
    trace: str = ""
    ua: str = ""
    """User agent: untrusted, 128 characters."""


class Request(Asked):
    """`req`: what was asked.  Strings the client wrote are cut at the lengths given above."""

    def __post_init__(self) -> None:
        """Cut what the client wrote."""
        self.cid = self.cid[:128]
        self.ua = self.ua[:128]
        self.method = self.method[:16]
        self.path = self.path[:256]


class Principal(Part, kw_only=True):
    """`who`: on whose behalf.  `key` is the name of the key, never the key."""

    auth: str = ""
    key: str = ""
    kind: str = ""
    sub: str = ""
    tenant: str = ""


class Policy(Part, kw_only=True):
    """`pol`: what it was judged by.  `sha` is the digest of the compiled policy, 32 hex digits."""

    id: str = ""
    rules: list[str] = []
    sha: str = ""
    ver: str = ""


class Find(Part, kw_only=True):
    """`find[]`: one run of one detector, passes and errors too."""

    act: str = ""
    cat: str = ""
    det: str
    dur: Int = 0
    """Microseconds."""
    n: Int = 0
    """How many findings; `spans` may hold fewer."""
    phase: Literal["in", "out", "tool"] = "in"
    rule: str = ""
    spans: list[Span] = []
    src: str = ""
    """Where in the body: a path of keys and indices, never text."""
    ver: str = ""
    verdict: Literal["pass", "hit", "error", "timeout", "skip"]


class Skip(Part, kw_only=True):
    """`skip[]`: a place that was not inspected."""

    bytes: Int = 0
    kind: str = msgspec.field(default="", name="type")
    where: str


class Attempt(Part, kw_only=True):
    """`route.att[]`: one try at one engine; `dur` in microseconds."""

    code: Int = 0
    dur: Int = 0
    ep: str
    err: str = ""


class Routed(Part, kw_only=True):
    """`route` as it is checked."""

    att: list[Attempt] = []
    model: str = ""
    pool: str = ""
    req: str = ""


class Route(Routed):
    """`route`: `req` is the model as asked (untrusted, 128 characters)."""

    def __post_init__(self) -> None:
        """Cut what the client wrote."""
        self.req = self.req[:128]


class Use(Part, kw_only=True):
    """`use`: tokens; `est` tells that they were estimated."""

    est: bool = False
    input: Int = msgspec.field(default=0, name="in")
    out: Int = 0


class Latency(Part, kw_only=True):
    """`lat`: microseconds; `ovh` is the proxy's own share, `audit` the wait for this log."""

    audit: Int = 0
    ovh: Int = 0
    total: Int = 0
    ttft: Int = 0


class Output(Part, kw_only=True):
    """`out`: length of the answer's text in characters and the reasons it finished for."""

    fin: list[str] = []
    len: Int = 0


class Opening(Part, kw_only=True):
    """The decision on one request; durable before anything is released.

    `k`, `log`, `n`, `t2` and `v` are set by the ledger, whatever stands there.
    """

    act: str
    """allow, flag, redact, block, or error."""
    find: list[Find] = []
    id: str = msgspec.field(default_factory=new_id)
    k: Literal["llm.decision"] | msgspec.UnsetType = msgspec.UNSET
    log: str | msgspec.UnsetType = msgspec.UNSET
    n: Int | msgspec.UnsetType = msgspec.UNSET
    pol: Policy | msgspec.UnsetType = msgspec.UNSET
    req: Asked
    route: Routed | msgspec.UnsetType = msgspec.UNSET
    skip: list[Skip] = []
    t: Int = 0
    """When the request came in, microseconds UTC; 0 means when the record was taken."""
    t2: Int | msgspec.UnsetType = msgspec.UNSET
    v: Int | msgspec.UnsetType = msgspec.UNSET
    who: Principal | msgspec.UnsetType = msgspec.UNSET
    why: str = ""


class Closing(Part, kw_only=True):
    """How one request ended; durable before the last byte is released.

    `k`, `log`, `n`, `t2` and `v` are set by the ledger, whatever stands there.
    """

    act: str = ""
    code: Int
    """HTTP status given to the client."""
    err: str = ""
    find: list[Find] = []
    id: str = msgspec.field(default_factory=new_id)
    k: Literal["llm.completion"] | msgspec.UnsetType = msgspec.UNSET
    lat: Latency | msgspec.UnsetType = msgspec.UNSET
    log: str | msgspec.UnsetType = msgspec.UNSET
    n: Int | msgspec.UnsetType = msgspec.UNSET
    out: Output | msgspec.UnsetType = msgspec.UNSET
    ref: str
    """`Opening.id`."""
    route: Routed | msgspec.UnsetType = msgspec.UNSET
    skip: list[Skip] = []
    st: Literal["complete", "aborted"]
    t: Int = 0
    t2: Int | msgspec.UnsetType = msgspec.UNSET
    use: Use | msgspec.UnsetType = msgspec.UNSET
    v: Int | msgspec.UnsetType = msgspec.UNSET
    why: str = ""


Record = Opening | Closing | Mapping[str, Any]
"""What a ledger takes.  A mapping must have `k`, for example "admin.reload"."""


class Head(msgspec.Struct):
    """What readers need of every record to follow the log; unknown fields are ignored."""

    n: int
    log: str
    k: str
    id: str = ""
    ref: str = ""


class Stamp(msgspec.Struct):
    """What the ledger adds: index, short id of the log, and time in microseconds UTC."""

    n: int
    log: str
    t2: int


def encode(record: Record, stamp: Stamp) -> bytes:
    """The canonical bytes of one record.

    Sets the fields of the stamp in an opening or a closing, which therefore belongs to the log.

    Raises:
        RecordError: for floats, null, big integers, wrong types and keys, or more than 32 KiB.

    """
    try:
        if isinstance(record, Opening):
            record.k = "llm.decision"
            decoder: msgspec.json.Decoder[Any] = _OPENING
        elif isinstance(record, Closing):
            record.k = "llm.completion"
            decoder = _CLOSING
        else:
            return canonical(_event(record, stamp))
        record.v = SCHEMA
        record.n = stamp.n
        record.log = stamp.log
        record.t2 = stamp.t2
        if not record.t:
            record.t = stamp.t2
        return _checked(record, decoder)
    except (ArithmeticError, RuntimeError, TypeError, msgspec.MsgspecError) as error:
        # Nothing a builder got wrong may end the writer: no JSON, endless nesting, a dict that
        # changes while it is read.
        raise RecordError(str(error)) from error


def weight(record: Record) -> int:
    """Bytes of memory that a record may take until it is written; roughly, and no less.

    Strings are not looked at: the client's are cut, the others are names.
    """
    if not isinstance(record, Part):
        return MAX_BYTES
    try:
        size = _BASE + _ITEM * len(record.skip)
        for find in record.find:
            size += _ITEM + _SPAN * len(find.spans)
    except (AttributeError, TypeError):
        return MAX_BYTES  # it will be refused, and must not be here
    return size


_BASE = 4096
"""A record with 528 characters by the client, four bytes each, and a dozen names."""
_ITEM = 512
_SPAN = 128
"""A tuple, two integers and their places."""

_ENCODER = msgspec.json.Encoder()
_OPENING = msgspec.json.Decoder(Opening)
_CLOSING = msgspec.json.Decoder(Closing)


def _checked(record: Opening | Closing, decoder: msgspec.json.Decoder[Any]) -> bytes:
    try:
        encoded = _ENCODER.encode(record)
    except UnicodeEncodeError:
        fields: dict[str, Any] = msgspec.to_builtins(record)
        msgspec.convert(fields, type(record))
        return canonical(fields)
    # msgspec does not check on construction; this is the guard against floats and null.
    decoder.decode(encoded)
    return encoded if len(encoded) <= MAX_BYTES else shortened(encoded)


def _event(record: Mapping[str, Any], stamp: Stamp) -> dict[str, Any]:
    check(record)
    if not isinstance(record, Mapping) or not isinstance(record.get("k"), str):
        raise RecordError("a record names its kind in `k`")
    fields = {"id": new_id(), "t": stamp.t2} | dict(record)
    fields |= {"v": SCHEMA, "n": stamp.n, "log": stamp.log, "t2": stamp.t2}
    return fields
