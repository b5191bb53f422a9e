from collections.abc import Iterator
from typing import Any, cast

import msgspec
import pytest
import rfc8785
from orjson import loads

from tidegate.audit import (
    Attempt,
    Closing,
    Find,
    Latency,
    Opening,
    Output,
    Policy,
    Principal,
    RecordError,
    Request,
    Route,
    Skip,
    Use,
    new_id,
)
from tidegate.audit.record import Part, Stamp, encode, weight

STAMP = Stamp(7, "0123456789ab", 1_800_000_000_000_000)


def full_opening() -> Opening:
    return Opening(
        id="A" * 22,
        t=1_799_999_999_000_000,
        req=Request(id="req-1", cid="c", trace="0" * 32, span="1" * 16, api="openai", stream=True),
        act="redact",
        why="pii",
        who=Principal(tenant="acme", sub="s", kind="user", auth="key", key="k-1"),
        pol=Policy(id="default", ver="1", sha="f" * 32, rules=["pii.card"]),
        find=[Find(det="pii", verdict="hit", cat="pii.card", n=1, spans=[(3, 19)], dur=40)],
        skip=[Skip(where="messages.0.content.1", kind="image_url", bytes=9)],
        route=Route(req="m", model="llama", pool="main"),
    )


def test_an_opening_has_the_fields_of_schema_1() -> None:
    assert loads(encode(full_opening(), STAMP)) == {
        "v": 1,
        "n": 7,
        "log": "0123456789ab",
        "id": "A" * 22,
        "t": 1_799_999_999_000_000,
        "t2": 1_800_000_000_000_000,
        "k": "llm.decision",
        "req": {
            "id": "req-1",
            "cid": "c",
            "trace": "0" * 32,
            "span": "1" * 16,
            "api": "openai",
            "stream": True,
        },
        "act": "redact",
        "why": "pii",
        "who": {"tenant": "acme", "sub": "s", "kind": "user", "auth": "key", "key": "k-1"},
        "pol": {"id": "default", "ver": "1", "sha": "f" * 32, "rules": ["pii.card"]},
        "find": [
            {"det": "pii", "verdict": "hit", "cat": "pii.card", "n": 1, "spans": [[3, 19]]}
            | {"dur": 40}
        ],
        "skip": [{"where": "messages.0.content.1", "type": "image_url", "bytes": 9}],
        "route": {"req": "m", "model": "llama", "pool": "main"},
    }


def test_a_closing_has_the_fields_of_schema_1() -> None:
    record = Closing(
        id="B" * 22,
        ref="A" * 22,
        code=200,
        st="complete",
        route=Route(att=[Attempt(ep="a", err="connect", dur=9), Attempt(ep="b", code=200)]),
        use=Use(input=3, out=4, est=True),
        lat=Latency(total=9, ttft=5, ovh=1, audit=1),
        out=Output(len=12, fin=["stop"]),
    )

    assert loads(encode(record, STAMP)) == {
        "v": 1,
        "n": 7,
        "log": "0123456789ab",
        "id": "B" * 22,
        "t": 1_800_000_000_000_000,
        "t2": 1_800_000_000_000_000,
        "k": "llm.completion",
        "ref": "A" * 22,
        "code": 200,
        "st": "complete",
        "route": {"att": [{"ep": "a", "err": "connect", "dur": 9}, {"ep": "b", "code": 200}]},
        "use": {"in": 3, "out": 4, "est": True},
        "lat": {"total": 9, "ttft": 5, "ovh": 1, "audit": 1},
        "out": {"len": 12, "fin": ["stop"]},
    }


def test_the_bytes_are_those_of_rfc_8785() -> None:
    encoded = encode(full_opening(), STAMP)

    assert rfc8785.dumps(loads(encoded)) == encoded


def test_absent_facts_are_absent() -> None:
    record = Opening(req=Request(id="r"), act="allow")

    assert set(loads(encode(record, STAMP))) == {
        "act", "id", "k", "log", "n", "req", "t", "t2", "v",
    }  # fmt: skip


def test_what_the_client_wrote_is_cut() -> None:
    long = "x" * 1000
    request = Request(id="r", cid=long, ua=long, method=long, path=long)

    assert [len(text) for text in (request.cid, request.ua, request.method, request.path)] == [
        128,
        128,
        16,
        256,
    ]
    assert len(Route(req=long).req) == 128


@pytest.mark.parametrize("value", [1.0, 2**53, None, "1", True])
def test_a_wrong_type_is_refused_in_a_struct(value: Any) -> None:
    record = Opening(req=Request(id="r", bytes=value), act="allow")

    with pytest.raises(RecordError):
        encode(record, STAMP)


def test_an_unknown_verdict_is_refused() -> None:
    verdict: Any = "maybe"
    record = Opening(req=Request(id="r"), act="allow", find=[Find(det="x", verdict=verdict)])

    with pytest.raises(RecordError):
        encode(record, STAMP)


def test_an_event_is_a_mapping_with_a_kind() -> None:
    record = loads(encode({"k": "admin.reload", "by": "ops"}, STAMP))

    assert (record["k"], record["by"], record["n"], record["t"]) == (
        "admin.reload",
        "ops",
        7,
        1_800_000_000_000_000,
    )
    assert len(record["id"]) == 22


def test_an_event_may_bring_its_id_and_time() -> None:
    record = loads(encode({"k": "admin.reload", "id": "mine", "t": 5}, STAMP))

    assert (record["id"], record["t"]) == ("mine", 5)


@pytest.mark.parametrize("event", [{"by": "ops"}, {"k": 5}, {"k": "a", "x": 1.5}])
def test_an_event_without_kind_or_with_a_float_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        encode(event, STAMP)


def test_ids_are_22_characters_and_differ() -> None:
    ids = {new_id() for _ in range(100)}

    assert len(ids) == 100
    assert {len(text) for text in ids} == {22}


def test_an_opening_names_itself() -> None:
    record = Opening(req=Request(id="r"), act="allow")

    assert loads(encode(record, STAMP))["id"] == record.id


def test_lone_surrogates_of_a_client_do_not_keep_a_request_off_the_record() -> None:
    record = Opening(req=Request(id="r", ua="x\udc80"), act="allow")
    fields = loads(encode(record, STAMP))

    assert (fields["req"]["ua"], fields["mend"]) == ("x\ufffd", 1)


def parts(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for below in kind.__subclasses__():
        yield below
        yield from parts(below)


@pytest.mark.parametrize("part", [*parts(Part)])
def test_fields_stand_in_the_order_in_which_they_are_written(part: type[msgspec.Struct]) -> None:
    names = part.__struct_encode_fields__

    assert sorted(names) == list(names)


@pytest.mark.parametrize(
    "record",
    [
        5,
        Find(det="pii", verdict="pass"),
        Closing(ref="r", code=200, st="complete", err=cast("Any", object())),
        Closing(ref="r", code=2**70, st="complete"),
        Opening(req=Request(id="r"), act="a", find=cast("Any", None)),
        Opening(req=Request(id="r"), act="a", find=cast("Any", [5])),
        Opening(req=Request(id="r"), act="a", who=cast("Any", {"tenant": "t", "more": 1.5})),
        Opening(req=Request(id="r", ua="\udc80"), act="a", t=cast("Any", 1.5)),
        {"k": "llm.abort"} | {"a": [*range(10_000)]} | {"f": 0.5},
    ],
)
def test_whatever_is_wrong_is_a_record_error_and_has_a_weight(record: Any) -> None:
    with pytest.raises(RecordError):
        encode(record, STAMP)
    assert weight(record) > 0


def test_a_long_record_is_shortened() -> None:
    finds = [Find(det="pii", verdict="hit", spans=[(0, 1)] * 500)] * 48
    encoded = encode(Opening(req=Request(id="r"), act="allow", find=finds), STAMP)

    assert len(encoded) <= 32_768
    assert loads(encoded)["trunc"] == 48


def test_the_weight_follows_what_a_client_can_make_many_of() -> None:
    plain = Opening(req=Request(id="r"), act="allow")
    skips = [Skip(where="*")] * 48
    finds = [Find(det="pii", verdict="hit", spans=[(0, 1)] * 16)] * 48
    full = Opening(req=Request(id="r"), act="allow", find=finds, skip=skips)

    assert weight(plain) * 8192 <= 64 << 20
    assert weight(full) - weight(plain) == 48 * (512 + 512 + 16 * 128)
    assert weight({"k": "admin.reload"}) == 32_768


def test_structs_keep_unset_parts_unset() -> None:
    assert Opening(req=Request(id="r"), act="allow").who is msgspec.UNSET
