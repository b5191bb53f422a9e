"""Hostile heads and hostile patience: bounded, refused in the dialect, on record."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.answers import stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import frame, says
from tests.gates import CHAT, PATIENCE, eventually, hello, posted, proxied

END = "\r\n\r\n"
HOST = "Host: x"
CHUNKED = "\r\n".join(
    [f"POST {CHAT} HTTP/1.1", HOST, "Content-Type: application/json", "Transfer-Encoding: chunked"]
)
BODY = json.dumps(hello())


def get(target: str, *lines: str, method: str = "GET") -> bytes:
    return "\r\n".join(
        [f"{method} {target} HTTP/1.1", HOST, "Connection: close", *lines, "", ""]
    ).encode("latin-1")


def told(answer: bytes) -> tuple[int, str]:
    """The status and the error's code of an answer in the dialect."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nServer: tidegate" in head
    return int(head.split()[1]), json.loads(body)["error"]["code"]


PATHS: dict[str, tuple[bytes, int, str]] = {
    "unknown": (get("/v1/files"), 404, "unknown_url"),
    "the root": (get("/"), 404, "unknown_url"),
    "an engine's own page": (get("/metrics"), 404, "unknown_url"),
    "an engine's health": (get("/health"), 404, "unknown_url"),
    "an engine's load endpoint": (get("/v1/load_lora_adapter", method="POST"), 404, "unknown_url"),
    "the admin's page": (get("/readyz"), 404, "unknown_url"),
    "a slash more": (posted(BODY.encode(), path=CHAT + "/"), 404, "unknown_url"),
    "two slashes": (posted(BODY.encode(), path="/v1//chat/completions"), 404, "unknown_url"),
    "two slashes ahead": (posted(BODY.encode(), path="//v1/chat/completions"), 404, "unknown_url"),
    "a compressed transfer": (
        f"{CHUNKED.replace('chunked', 'gzip, chunked')}{END}0{END}".encode(),
        501,
        "unsupported_transfer_coding",
    ),
    "an encoded slash": (posted(BODY.encode(), path="/v1/chat%2Fcompletions"), 404, "unknown_url"),
    "an encoded letter": (
        posted(BODY.encode(), path="/v1/%63hat/completions"),
        404,
        "unknown_url",
    ),
    "a dot segment": (posted(BODY.encode(), path="/v1/./chat/completions"), 404, "unknown_url"),
    "a way up": (posted(BODY.encode(), path="/v1/x/../chat/completions"), 404, "unknown_url"),
    "an encoded way up": (
        posted(BODY.encode(), path="/v1/x/%2e%2e/chat/completions"),
        404,
        "unknown_url",
    ),
    "a backslash": (posted(BODY.encode(), path="/v1\\chat\\completions"), 404, "unknown_url"),
    "capitals": (posted(BODY.encode(), path="/V1/chat/completions"), 404, "unknown_url"),
    "a parameter": (posted(BODY.encode(), path=f"{CHAT};x=1"), 404, "unknown_url"),
    "an absolute URL": (
        posted(BODY.encode(), path=f"http://evil.example{CHAT}"),
        400,
        "absolute_url",
    ),
    "another host's": (get("http://evil.example/"), 400, "absolute_url"),
    "GET for POST": (get(CHAT), 405, "method_not_allowed"),
    "PUT for POST": (get(CHAT, method="PUT"), 405, "method_not_allowed"),
    "POST for GET": (get("/v1/models", method="POST"), 405, "method_not_allowed"),
    "DELETE of a model": (get("/v1/models/m", method="DELETE"), 405, "method_not_allowed"),
    "TRACE": (get(CHAT, method="TRACE"), 405, "method_not_allowed"),
    "OPTIONS of all": (get("*", method="OPTIONS"), 400, "absolute_url"),
    "a WebSocket": (
        get(CHAT, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA=="),
        400,
        "upgrade_refused",
    ),
    "a WebSocket that says so": (
        get("/v1/realtime", "Connection: Upgrade", "Upgrade: websocket"),
        400,
        "upgrade_refused",
    ),
    "cleartext HTTP/2": (
        get("/v1/models", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c"),
        400,
        "upgrade_refused",
    ),
}


@pytest.mark.parametrize(("request_", "status", "code"), PATHS.values(), ids=PATHS.keys())
async def test_what_the_dialect_does_not_list_never_reaches_an_engine(
    tmp_path: Path, fake_engine: FakeEngine, request_: bytes, status: int, code: str
) -> None:
    if b"Connection: close" not in request_:
        request_ = request_.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(request_)
    [opening], [closing] = proxy.openings, proxy.closings

    assert told(answer) == (status, code)
    assert (closing["code"], closing["err"]) == (status, code)
    assert opening["req"]["method"] == request_.split()[0].decode()
    assert fake_engine.calls == []


async def test_a_refused_method_is_told_which_is_allowed(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with (
        proxied(tmp_path, fake_engine) as proxy,
        proxy.http.get(proxy.gate.url() + CHAT) as got,
    ):
        allowed = got.headers["Allow"]

    assert (got.status, allowed) == (405, "POST")


NO_HTTP: dict[str, bytes] = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n",
    "no version": b"GET /v1/models\r\n\r\n",
    "HTTP/2's preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a length and chunked": posted(BODY.encode(), "Transfer-Encoding: chunked"),
    "two lengths": posted(BODY.encode(), "Content-Length: 1"),
    "a negative length": get(CHAT, "Content-Length: -1", method="POST"),
    "a length with a sign": get(CHAT, "Content-Length: +5", method="POST"),
    "two lengths in one": get(CHAT, "Content-Length: 5, 6", method="POST"),
    "chunked twice": get(CHAT, "Transfer-Encoding: chunked, chunked", method="POST"),
    "chunked, but not last": get(CHAT, "Transfer-Encoding: chunked, identity", method="POST"),
    "an unknown coding": get(CHAT, "Transfer-Encoding: xchunked", method="POST"),
    "NUL in a value": get("/v1/models", "X-A: a\0b"),
    "NUL in a name": get("/v1/models", "X\0A: b"),
    "a bare LF in the head": b"GET /v1/models HTTP/1.1\nHost: x\n\n",
    "a bare CR in a value": get("/v1/models", "X-A: a\rX-B: b"),
    "a blank before the colon": get("/v1/models", "Content-Length : 5"),
    "a folded line": get("/v1/models", "X-A: a\r\n b"),
    "a line without a colon": get("/v1/models", "nonsense"),
    "an empty name": get("/v1/models", ": x"),
    "a long line": get("/" + "x" * 9000),
    "a long value": get("/v1/models", "X-A: " + "x" * 9000),
    "a long name": get("/v1/models", "X" * 9000 + ": x"),
    "many headers": get("/v1/models", *(f"X-{number}: x" for number in range(150))),
    "very many headers": get("/v1/models", *(f"X-{number}: x" for number in range(20_000))),
    "an endless head": b"GET /v1/models HTTP/1.1\r\nX: " + b"x" * (4 << 20),
    "a space in the target": b"GET /v1/ models HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("request_", NO_HTTP.values(), ids=NO_HTTP.keys())
async def test_what_is_no_clean_http_is_refused_on_record_and_its_connection_closed(
    tmp_path: Path, fake_engine: FakeEngine, request_: bytes
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(request_)
        await proxy.settled()
    [closing] = proxy.closings
    status, code = told(answer) if answer else (closing["code"], closing["err"])

    assert status in (400, 431)
    assert code in ("bad_http", "headers_too_large")
    assert (closing["code"], closing["err"]) == (status, code)
    assert fake_engine.calls == []


async def test_all_headers_together_have_a_limit(tmp_path: Path, fake_engine: FakeEngine) -> None:
    lines = [f"X-{number}: {'x' * 4000}" for number in range(20)]
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(get("/v1/models", *lines))

    assert told(answer) == (431, "headers_too_large")


async def test_a_smuggled_second_request_is_never_carried_out(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    """A front proxy that believes the length sees one request, one that believes chunks two."""
    hidden = posted(BODY.encode())
    body = b"0\r\n\r\n" + hidden
    head = f"{CHUNKED}\r\nContent-Length: {len(body)}{END}"
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(head.encode() + body)
        await proxy.settled()

    assert told(answer)[1] == "bad_http"
    assert fake_engine.calls == []
    assert len(proxy.closings) == 1


async def test_broken_chunks_are_refused(tmp_path: Path, fake_engine: FakeEngine) -> None:
    head = f"{CHUNKED}{END}"
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(head.encode() + b"zz\r\n{}\r\n0\r\n\r\n")
        await proxy.settled()

    assert 400 <= int(answer.split()[1]) < 500
    assert fake_engine.calls == []


async def test_pipelined_requests_are_answered_in_their_order(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    requests = [
        posted(hello(stream=True)),
        get("/v1/nowhere").replace(b"Connection: close\r\n", b""),
        posted(hello(), "Connection: close"),
    ]
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(b"".join(requests))

    statuses = [part.split()[0] for part in answer.split(b"HTTP/1.1 ")[1:]]

    assert statuses == [b"200", b"404", b"200"]
    assert answer.index(b"[DONE]") < answer.index(b"unknown_url") < answer.index(b"Hello there.")


async def test_bytes_of_latin_1_in_names_and_paths_do_no_harm(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        first = await proxy.say(
            posted(hello(), "User-Agent: caf\xe9 \xff", "X-Request-Id: \xe9", "Connection: close")
        )
        second = await proxy.say(get("/v1/\xe9\xff"))
        await proxy.settled(2)

    assert first.startswith(b"HTTP/1.1 200 ")
    assert int(second.split()[1]) in (400, 404)


async def test_a_stream_for_an_http_1_0_client_ends_with_its_connection(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    request = posted(hello(stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    async with proxied(tmp_path, fake_engine) as proxy:
        answer = await proxy.say(request)
    head, _, body = answer.partition(b"\r\n\r\n")

    assert head.split()[1] == b"200"
    assert b"chunked" not in head
    assert body.endswith(b"data: [DONE]\n\n")


async def test_a_head_that_trickles_in_is_cut_off_in_time(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"header_timeout": "100ms"}) as proxy:
        answer = await proxy.say(f"POST {CHAT} HTTP/1.1\r\n{HOST}\r\nX-A: ".encode())
        await proxy.settled()
    [closing] = proxy.closings

    assert told(answer) == (408, "header_timeout")
    assert closing["err"] == "header_timeout"


async def test_a_second_head_that_trickles_in_is_cut_off_too(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"header_timeout": "100ms"}) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello()))
            await asyncio.wait_for(reader.readuntil(b"}}"), PATIENCE)
            writer.write(b"GET /v1")
            rest = await asyncio.wait_for(reader.read(-1), PATIENCE)
        await proxy.settled(2)

    assert told(rest)[1] == "header_timeout"


async def test_a_connection_that_says_nothing_is_closed_without_a_record(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"keepalive": "100ms"}) as proxy:
        answer = await proxy.say(b"")

    assert answer == b""
    assert proxy.records() == []


async def test_without_keepalive_the_head_has_its_time_from_the_start(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    limits = {"keepalive": "0s", "header_timeout": "100ms"}
    async with proxied(tmp_path, fake_engine, limits=limits) as proxy:
        answer = await proxy.say(b"")

    assert told(answer)[1] == "header_timeout"


async def test_a_body_that_trickles_in_is_refused_in_time(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"body_timeout": "100ms"}) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello())[:-5])
            answer = await asyncio.wait_for(reader.readuntil(b"}}"), PATIENCE)
        await proxy.settled()
    [closing] = proxy.closings

    assert told(answer) == (408, "body_timeout")
    assert closing["code"] == 408
    assert fake_engine.calls == []


async def test_a_client_that_does_not_read_a_stream_is_cut_off_and_the_engine_with_it(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    """Until then nothing is read from the engine that the client does not take."""
    event = frame(says("x" * 30_000))
    fake_engine.then(stream(*([event] * 2000)))
    async with proxied(tmp_path, fake_engine, limits={"write_timeout": "300ms"}) as proxy:
        async with proxy.connection() as (_, writer):
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's has it
            writer.write(posted(hello(stream=True)))
            call = await fake_engine.call()
            await asyncio.wait_for(call.gone.wait(), PATIENCE)
        [settled] = await proxy.settled()
    [closing] = proxy.closings

    assert not call.answered.is_set()
    assert settled.outcome == "client_left"
    assert closing["st"] == "aborted"
    assert settled.bytes_out < 20 << 20


async def test_a_client_that_does_not_read_a_whole_answer_is_cut_off(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"write_timeout": "300ms"}) as proxy:
        async with proxy.connection() as (_, writer):
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's has it
            writer.write(posted(hello(model="fake-huge-json")))
            await proxy.settled()
            await eventually(lambda: proxy.connections == 0)
        served = await proxy.ask(hello())

    assert served[0] == 200
    assert len(proxy.closings) == 2


async def test_a_client_that_asks_on_without_reading_fills_no_memory(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    request = posted(hello(model="fake-huge-json"))
    async with (
        proxied(tmp_path, fake_engine, limits={"write_timeout": "300ms"}) as proxy,
        proxy.connection() as (_, writer),
    ):
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's has it
        writer.write(request * 50)
        await proxy.settled()
        await eventually(lambda: proxy.connections == 0)

    assert len(fake_engine.calls) == 1


async def test_a_client_that_reads_slowly_gets_everything(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"write_timeout": "200ms"}) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello(model="fake-huge-json"), "Connection: close"))
            taken = 0
            while piece := await asyncio.wait_for(reader.read(1 << 20), PATIENCE):
                taken += len(piece)
                await asyncio.sleep(0)
        await proxy.settled()

    assert taken > 24 << 20


async def test_connections_beyond_the_limit_are_turned_away(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, limits={"max_connections": 1}) as proxy:
        async with proxy.connection():
            await eventually(lambda: proxy.connections == 1)
            full = await proxy.say(b"")
            idle = proxy.connections
        await eventually(lambda: proxy.connections == 0)
        again = await proxy.say(posted(hello(), "Connection: close"))

    assert idle == 1
    assert told(full) == (503, "too_many_connections")
    assert again.startswith(b"HTTP/1.1 200 ")


async def test_a_head_of_many_small_parts_is_taken(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    request: Any = posted(hello(), "Connection: close")
    async with proxied(tmp_path, fake_engine) as proxy, proxy.connection() as (reader, writer):
        for at in range(len(request)):
            writer.write(request[at : at + 1])
            await asyncio.sleep(0)
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert answer.startswith(b"HTTP/1.1 200 ")
