import asyncio
import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import HttpVersion, HttpVersion10, HttpVersion11
from multidict import CIMultiDict
from tests.fakes.engine import FakeEngine
from tests.gates import PATIENCE, Proxy, eventually, hello, posted, proxied
from tests.proxy.exchanges import exchange

from tidegate.proxy.config import Limits
from tidegate.proxy.errors import BadRequest
from tidegate.proxy.reply import Reply


def reply(
    path: str = "/v1/models",
    headers: tuple[tuple[str, str], ...] = (),
    version: HttpVersion = HttpVersion11,
    address: str = "127.0.0.1",
    **limits: Any,
) -> Reply:
    """A reply to a request of which only the head is looked at."""
    request: Any = SimpleNamespace(
        headers=CIMultiDict(headers),
        raw_headers=[(name.encode(), value.encode()) for name, value in headers],
        raw_path=path,
        rel_url=SimpleNamespace(raw_path=path),
        version=version,
        transport=None,
    )
    x = exchange()
    x.client_address = address
    return Reply(request, x, Limits(**limits))


def being_read(proxy: Proxy) -> bool:
    """Whether the head of a request has come."""
    server = proxy.gate.server
    assert server is not None
    return any(connection._current_request for connection in server.connections)


def refusal(made: Reply) -> tuple[int, str]:
    with pytest.raises(BadRequest) as caught:
        made.refuse_oddities()
    return caught.value.status, caught.value.code


def test_every_credential_that_was_sent_is_shown() -> None:
    made = reply(headers=(("Authorization", "a"), ("authorization", "b"), ("X-API-Key", "c")))

    assert made.credentials == (["a", "b"], ["c"])
    assert reply().credentials == ([], [])


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("", False),
        ("::2", False),
    ],
)
def test_a_client_of_this_machine_is_known_by_its_address(address: str, *, loopback: bool) -> None:
    assert reply(address=address).loopback is loopback


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/models", None),
        ("/v1/models/m", "m"),
        ("/v1/models/org%2Fm%20x", "org/m x"),
        ("/v1/models/org/models/m", "org/models/m"),
    ],
)
def test_a_path_may_name_a_model(path: str, name: str | None) -> None:
    assert reply(path).model_name == name


def test_a_plain_call_has_no_oddity() -> None:
    reply().refuse_oddities()
    reply(version=HttpVersion10).refuse_oddities()


def test_upgrades_other_versions_absolute_urls_and_too_many_headers_are_refused() -> None:
    large = (("X-A", "x" * 600), ("X-B", "x" * 600))

    assert refusal(reply(headers=(("Upgrade", "h2c"),))) == (400, "upgrade_refused")
    assert refusal(reply(version=HttpVersion(0, 9))) == (400, "bad_http")
    assert refusal(reply("http://x/v1/models")) == (400, "absolute_url")
    assert refusal(reply(headers=large, header_bytes=1024)) == (431, "headers_too_large")
    reply(headers=large, header_bytes=1216).refuse_oddities()


def test_before_it_has_started_there_is_no_status() -> None:
    made = reply()

    assert (made.started, made.status) == (False, 0)


async def test_a_piece_cannot_come_before_its_head() -> None:
    with pytest.raises(AssertionError, match="after start"):
        await reply().write(b"x")


async def test_the_end_of_an_answer_that_has_not_begun_is_left_to_its_response() -> None:
    made = reply()
    made.stage(b"{}", "application/json")
    await made.finish()

    assert made.response().status == 200
    assert made._x.bytes_out == 2


async def test_bodies_of_every_form_are_read_or_refused(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    plain = json.dumps(hello(x="x" * 900)).encode()
    noise = json.dumps(hello(x=[str(n * 7919 % 10007) for n in range(40_000)])).encode()
    cases: list[tuple[bytes, dict[str, str], int]] = [
        (plain, {}, 200),
        (plain, {"Content-Encoding": "identity"}, 200),
        (gzip.compress(plain), {"Content-Encoding": "GZIP"}, 200),
        (gzip.compress(noise), {"Content-Encoding": "gzip"}, 200),
        (gzip.compress(b" " * 600_000), {"Content-Encoding": "gzip"}, 413),
        (b"x" * 600_000, {}, 413),
        (plain, {"Content-Encoding": "br"}, 415),
        (plain, {"Content-Type": "text/plain"}, 415),
        (plain, {"Content-Type": "application/json; charset=utf-8"}, 200),
    ]
    async with proxied(tmp_path, fake_engine, limits={"body": "500KiB"}) as proxy:
        statuses = [
            (await proxy.ask(body, headers=dict(headers)))[0] for body, headers, _ in cases
        ]

    assert statuses == [status for _, _, status in cases]
    assert {call.body for call in fake_engine.calls} == {plain, noise}


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        (b"%x\r\n" % 3000 + b" " * 3000 + b"\r\n0\r\n\r\n", 413),
        (b"%x\r\n" % 5 + b"{    \r\n0\r\n\r\n", 400),
        (b"zz\r\n", 400),
        (b"5\r\nabc", 408),
    ],
)
async def test_chunks_are_bounded_in_size_form_and_time(
    tmp_path: Path, fake_engine: FakeEngine, rest: bytes, status: int
) -> None:
    head = posted(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    limits = {"body": "2KiB", "body_timeout": "50ms"}
    async with (
        proxied(tmp_path, fake_engine, limits=limits) as proxy,
        proxy.connection() as (reader, writer),
    ):
        writer.write(head)
        await eventually(lambda: being_read(proxy))
        writer.write(rest)
        line = await asyncio.wait_for(reader.readline(), PATIENCE)

    assert int(line.split()[1]) == status


async def test_a_whole_body_over_the_limit_is_refused_by_what_has_come(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    """In one read with its head, chunked, so that no length gives it away."""
    body = b"%x\r\n" % 3000 + b" " * 3000 + b"\r\n0\r\n\r\n"
    head = posted(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    async with (
        proxied(tmp_path, fake_engine, limits={"body": "2KiB"}) as proxy,
        proxy.connection() as (reader, writer),
    ):
        writer.write(head + body)
        line = await asyncio.wait_for(reader.readline(), PATIENCE)

    assert line.startswith(b"HTTP/1.1 413 ")


async def test_streams_have_their_own_headers_and_end_as_their_version_has_it(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    new = posted(hello(stream=True), "Connection: close", "Expect: 100-continue")
    old = posted(hello(stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    async with proxied(tmp_path, fake_engine) as proxy:
        newer, older = await proxy.say(new), await proxy.say(old)

    assert newer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert newer.endswith(b"\r\n0\r\n\r\n")
    assert b"\r\nX-Accel-Buffering: no\r\n" in newer
    assert older.endswith(b"data: [DONE]\n\n")


async def test_a_stream_may_end_with_nothing_staged(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(model="fake-no-done", stream=True))

    assert b"[DONE]" not in body
