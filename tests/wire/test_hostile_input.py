"""Hostile bodies and clients: a clear 4xx or a bounded close, on record, and no engine asked."""

import asyncio
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.engine import FakeEngine
from tests.gates import CHAT, PATIENCE, eventually, hello, posted, proxied

MEBIBYTE = 1 << 20
HI = '{"role":"user","content":"Hi"}'
JSON_TYPE = "Content-Type: application/json"


def nested(depth: int) -> bytes:
    """A request whose deepest array is at this level."""
    inner = "[" * (depth - 1) + "]" * (depth - 1)
    return f'{{"model":"m","messages":[{HI}],"x":{inner}}}'.encode()


def with_body(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


BODIES: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "invalid_json"),
    "blank": ("  \n", "invalid_json"),
    "not JSON": ("hello", "invalid_json"),
    "cut off": (f'{{"model":"m","messages":[{HI}', "invalid_json"),
    "two values": (f'{{"model":"m","messages":[{HI}]}} {{}}', "invalid_json"),
    "invalid UTF-8": (
        b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}',
        "invalid_json",
    ),
    "an overlong encoding": (
        b'{"model":"m","messages":[{"role":"user","content":"\xc0\xaf"}]}',
        "invalid_json",
    ),
    "a lone surrogate": (
        '{"model":"m","messages":[{"role":"user","content":"\\ud800"}]}',
        "invalid_json",
    ),
    "UTF-16": (json.dumps(hello()).encode("utf-16"), "invalid_json"),
    "a byte order mark": (b"\xef\xbb\xbf" + json.dumps(hello()).encode(), "invalid_json"),
    "the same key twice": (f'{{"model":"m","model":"n","messages":[{HI}]}}', "duplicate_key"),
    "the same key twice, once escaped": (
        f'{{"model":"m","\\u006dodel":"n","messages":[{HI}]}}',
        "duplicate_key",
    ),
    "the same key twice inside": (
        '{"model":"m","messages":[{"role":"user","content":"Hi","content":"Ho"}]}',
        "duplicate_key",
    ),
    "NaN": (f'{{"model":"m","messages":[{HI}],"temperature":NaN}}', "invalid_json"),
    "Infinity": (f'{{"model":"m","messages":[{HI}],"temperature":-Infinity}}', "invalid_json"),
    "nested 1,000 deep": (nested(1000), "nested_too_deep"),
    "nested 100,000 deep": (b"[" * 100_000 + b"]" * 100_000, "invalid_json"),
    "an unclosed 100,000": (b"[" * 100_000, "invalid_json"),
    "a list": ("[]", "invalid_type"),
    "a number": ("1", "invalid_type"),
    "null": ("null", "invalid_type"),
    "no model": (f'{{"messages":[{HI}]}}', "missing_model"),
    "no messages": ('{"model":"m"}', "invalid_type"),
    "empty messages": ('{"model":"m","messages":[]}', "invalid_type"),
}
FIELDS: dict[str, list[Any]] = {
    "model": [1, [], {}, True, ""],
    "messages": [
        1,
        "x",
        {},
        None,
        [1],
        [None],
        [[]],
        [{}],
        [{"role": 1}],
        [{"role": "user", "content": 1}],
        [{"role": "user", "content": {}}],
        [{"role": "user", "content": [1]}],
        [{"role": "user", "content": [{}]}],
        [{"role": "user", "content": [{"type": "text", "text": 1}]}],
        [{"role": "assistant", "tool_calls": 1}],
        [{"role": "assistant", "tool_calls": [1]}],
    ],
    "stream": [1, "true", [], {}],
    "stream_options": [1, "x", [], True],
    "n": [0, -1, 1.5, "1", [], True],
    "max_tokens": [0, -1, 1.5, "1", {}],
    "max_completion_tokens": [0, "x", []],
    "tools": [1, "x", {}, [1]],
    "functions": [1, "x", [None]],
}


@pytest.mark.parametrize(("body", "code"), BODIES.values(), ids=BODIES.keys())
async def test_a_body_that_is_no_request_is_refused_in_the_dialect_and_on_record(
    tmp_path: Path, fake_engine: FakeEngine, body: str | bytes, code: str
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        status, answer = await proxy.ask(with_body(body))
    [opening], [closing] = proxy.openings, proxy.closings

    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert answer["error"]["code"] == code
    assert (opening["act"], opening["why"]) == ("error", code)
    assert (closing["code"], closing["err"], closing["st"]) == (400, code, "complete")
    assert fake_engine.calls == []


async def test_a_wrong_type_in_any_field_is_refused_by_its_path(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    cases = [(name, value) for name, values in FIELDS.items() for value in values]
    async with proxied(tmp_path, fake_engine) as proxy:
        answers = [(name, value, await proxy.ask(hello(**{name: value}))) for name, value in cases]

    for name, value, (status, answer) in answers:
        assert (status, answer["error"]["type"]) == (400, "invalid_request_error"), (name, value)
        assert answer["error"]["param"].startswith(name), (name, value)
    assert fake_engine.calls == []
    assert len(proxy.closings) == len(cases)


async def test_odd_but_valid_requests_reach_the_engine_as_they_are(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    bodies = [
        nested(99),
        f'{{"model":"m","messages":[{HI}],"seed":123456789012345678901234567890}}'.encode(),
        f' {{ "model" : "m", "messages" : [ {HI} ], "temperature": 1.0e0 }} '.encode(),
        f'{{"model":"m","messages":[{HI}],"x":"\\u0000 你好 \\ud83e\\udd8a"}}'.encode(),
    ]
    async with proxied(tmp_path, fake_engine) as proxy:
        statuses = [(await proxy.ask(body))[0] for body in bodies]

    assert statuses == [200] * len(bodies)
    assert [call.body for call in fake_engine.calls] == bodies


async def test_20_mebibytes_pass_under_the_limit(tmp_path: Path, fake_engine: FakeEngine) -> None:
    image = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64," + "A" * 20 * MEBIBYTE},
    }
    body = json.dumps(hello(messages=[{"role": "user", "content": [image]}])).encode()
    async with proxied(tmp_path, fake_engine) as proxy:
        status, _ = await proxy.ask(body)
    [opening] = proxy.openings

    assert status == 200
    assert fake_engine.calls[0].body == body
    assert opening["req"]["bytes"] == len(body)
    assert opening["skip"][0]["type"] == "image"


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "chunked"])
async def test_20_mebibytes_over_the_limit_are_refused(
    tmp_path: Path, fake_engine: FakeEngine, *, chunked: bool
) -> None:
    body = json.dumps(hello(x="A" * 20 * MEBIBYTE)).encode()
    if chunked:
        parts = [body[at : at + MEBIBYTE] for at in range(0, len(body), MEBIBYTE)]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        head = (
            f"POST {CHAT} HTTP/1.1\r\nHost: x\r\n{JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        request = head.encode() + framed
    else:
        request = posted(body)
    async with proxied(tmp_path, fake_engine, limits={"body": "10MiB"}) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(request)
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode()
            answer = await asyncio.wait_for(reader.readuntil(b"}}"), PATIENCE)
        await proxy.settled()
    [closing] = proxy.closings

    assert head.startswith("HTTP/1.1 413 ")
    assert json.loads(answer)["error"]["code"] == "body_too_large"
    assert closing["code"] == 413
    assert fake_engine.calls == []


async def test_a_chunked_body_is_read_whole(tmp_path: Path, fake_engine: FakeEngine) -> None:
    body = json.dumps(hello()).encode()

    async def pieces() -> Any:
        for at in range(0, len(body), 7):
            yield body[at : at + 7]

    async with proxied(tmp_path, fake_engine) as proxy:
        url = proxy.gate.url() + CHAT
        async with proxy.http.post(
            url, data=pieces(), headers={"Content-Type": "application/json"}
        ) as answer:
            assert answer.status == 200
    assert fake_engine.calls[0].body == body
    assert fake_engine.calls[0].header("Transfer-Encoding") is None


async def test_10_000_messages_pass_and_one_more_does_not(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    message = {"role": "user", "content": "Hi"}
    async with proxied(tmp_path, fake_engine) as proxy:
        most = await proxy.ask(hello(messages=[message] * 10_000))
        more = await proxy.ask(hello(messages=[message] * 10_001))
        texts = await proxy.ask({"model": "m", "input": ["x"] * 10_001}, "/v1/embeddings")

    assert most[0] == 200
    assert (more[0], more[1]["error"]["code"]) == (400, "too_many_messages")
    assert (texts[0], texts[1]["error"]["code"]) == (400, "too_many_messages")
    assert len(fake_engine.calls) == 1


async def test_many_findings_still_make_a_record(tmp_path: Path, fake_engine: FakeEngine) -> None:
    messages = [
        {"role": "user", "content": f"Write to a{number}@example.com, card 4111111111111111"}
        for number in range(3000)
    ]
    async with proxied(tmp_path, fake_engine) as proxy:
        status, _ = await proxy.ask(hello(messages=messages))
    [opening] = proxy.openings

    assert status == 200
    assert len(json.dumps(opening)) < 32 << 10
    assert b"@example.com" not in fake_engine.calls[0].body


async def test_a_record_holds_untrusted_names_only_cut(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    long = "x" * 8000
    async with proxied(tmp_path, fake_engine) as proxy:
        headers = {"User-Agent": long, "X-Request-Id": long, "Content-Type": "application/json"}
        status, _ = await proxy.ask(hello(model="m" * 100_000), headers=headers)
        await proxy.ask(hello(), f"/v1/{long}")
    first, second = proxy.openings

    assert status == 200
    assert len(json.dumps(first)) < 4000
    assert len(json.dumps(second)) < 4000


async def test_a_gzipped_body_is_read(tmp_path: Path, fake_engine: FakeEngine) -> None:
    body = json.dumps(hello()).encode()
    async with proxied(tmp_path, fake_engine) as proxy:
        gzipped = await proxy.ask(gzip.compress(body), headers={"Content-Encoding": "gzip"})
        deflated = await proxy.ask(zlib.compress(body), headers={"Content-Encoding": "deflate"})

    assert (gzipped[0], deflated[0]) == (200, 200)
    assert [call.body for call in fake_engine.calls] == [body, body]


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "chunked"])
async def test_a_gzip_bomb_is_refused_at_the_limit(
    tmp_path: Path, fake_engine: FakeEngine, *, chunked: bool
) -> None:
    bomb = gzip.compress(b" " * (256 * MEBIBYTE), 9)
    lines = ["Content-Encoding: gzip", "Connection: close"]
    if chunked:
        head = "\r\n".join(
            [f"POST {CHAT} HTTP/1.1", "Host: x", JSON_TYPE, "Transfer-Encoding: chunked", *lines]
        )
        request = f"{head}\r\n\r\n{len(bomb):x}\r\n".encode() + bomb + b"\r\n0\r\n\r\n"
    else:
        request = posted(bomb, *lines)
    async with proxied(tmp_path, fake_engine, limits={"body": "1MiB"}) as proxy:
        answer = await proxy.say(request)
        await proxy.settled()
    [closing] = proxy.closings

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert closing["err"] == "body_too_large"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Content-Encoding": "br"}, 415, "unsupported_encoding"),
        ({"Content-Encoding": "zstd"}, 415, "unsupported_encoding"),
        ({"Content-Encoding": "gzip, gzip"}, 415, "unsupported_encoding"),
        ({"Content-Encoding": "gzip"}, 400, "bad_body"),
        ({"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415, "unsupported_media_type"),
        ({"Content-Type": "application/jsonp"}, 415, "unsupported_media_type"),
    ],
)
async def test_a_body_in_another_form_is_refused(
    tmp_path: Path, fake_engine: FakeEngine, headers: dict[str, str], status: int, code: str
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        got, answer = await proxy.ask(json.dumps(hello()).encode(), headers=dict(headers))
    [closing] = proxy.closings

    assert (got, answer["error"]["code"]) == (status, code)
    assert (closing["code"], closing["err"]) == (status, code)
    assert fake_engine.calls == []


async def test_a_body_without_a_content_type_is_refused(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    request = posted(hello(), "Connection: close").replace(b"Content-Type", b"X-Content-Type")
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(request)

    assert answer.startswith(b"HTTP/1.1 415 ")


async def test_two_content_encodings_are_refused(tmp_path: Path, fake_engine: FakeEngine) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(
            posted(
                gzip.compress(json.dumps(hello()).encode()),
                "Content-Encoding: identity",
                "Content-Encoding: br",
                "Connection: close",
            )
        )

    assert answer.startswith(b"HTTP/1.1 415 ")
    assert fake_engine.calls == []


async def test_100_continue_is_said_before_the_body_is_read(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    head, _, body = posted(hello(), "Expect: 100-continue", "Connection: close").partition(
        b"\r\n\r\n"
    )
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        writer.write(head + b"\r\n\r\n")
        interim = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        writer.write(body)
        final = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)

    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert final.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nServer: tidegate\r\n" in final


async def test_100_continue_is_not_said_for_a_body_that_is_refused_by_its_length(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    request = posted(hello(), "Expect: 100-continue").replace(
        b"Content-Length: ", b"Content-Length: 9"
    )
    head = request.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    async with proxied(tmp_path, fake_engine, limits={"body": "800B"}) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(head)
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        await eventually(lambda: proxy.connections == 0)

    assert answer.startswith(b"HTTP/1.1 413 ")
