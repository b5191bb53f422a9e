import asyncio
import gzip
import json
from pathlib import Path

import pytest
from tests.fakes.engine import FakeEngine
from tests.gates import PATIENCE, Proxy, eventually, hello, posted, proxied
from tests.proxy.exchanges import exchange

from tidegate.proxy.clients.reply import Reply
from tidegate.proxy.clients.request import Request
from tidegate.proxy.config import Limits
from tidegate.proxy.errors import BadRequest

CODING = "unsupported_transfer_coding"
VERSIONS = ("1.1", "1.1", "1.0")


class Wire:
    """A client that is `behind` by so many bytes."""

    address = ""

    def __init__(self) -> None:
        self.sent = b""
        self.behind = 0
        self.waits = 0

    def send(self, data: bytes) -> int:
        self.sent += data
        return self.behind

    async def drained(self) -> None:
        self.waits += 1


def reply(
    target: str = "/v1/models",
    headers: tuple[tuple[str, str], ...] = (("Host", "x"),),
    version: str = "1.1",
    address: str = "127.0.0.1",
    wire: Wire | None = None,
) -> Reply:
    """A reply to a request whose connection goes on."""
    limits = Limits()
    request = Request(wire or Wire(), lambda: None, limits.body)
    request.method, request.target, request.version = "POST", target, version
    request.keep_alive = True
    for name, value in headers:
        request.add(name.lower().encode(), value.encode())
    x = exchange()
    x.client_address = address
    return Reply(request, x, limits)


def being_read(proxy: Proxy) -> bool:
    """Whether the head of a request has come."""
    server = proxy.gate.server
    assert server is not None
    return any(connection.current for connection in server.connections)


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
    reply(headers=(), version="1.0").refuse_oddities()
    reply(headers=(("Host", "x"), ("Transfer-Encoding", "Chunked"))).refuse_oddities()


@pytest.mark.parametrize(
    ("made", "status", "code"),
    [
        (reply(headers=(("Upgrade", "h2c"),)), 400, "upgrade_refused"),
        (reply(headers=(("Transfer-Encoding", "gzip, chunked"),)), 501, CODING),
        (reply(headers=(("Transfer-Encoding", "gzip"), ("Transfer-Encoding", "x"))), 501, CODING),
        (reply(version="0.9"), 400, "bad_http"),
        (reply(version="2.0"), 400, "bad_http"),
        (reply("http://x/v1/models"), 400, "absolute_url"),
        (reply("*"), 400, "absolute_url"),
        (reply(headers=()), 400, "bad_http"),
        (reply(headers=(("Host", "x"), ("Host", "x"))), 400, "bad_http"),
    ],
)
def test_what_no_plain_call_has_is_refused(made: Reply, status: int, code: str) -> None:
    assert refusal(made) == (status, code)


def test_before_it_has_started_there_is_no_status() -> None:
    made = reply()

    assert (made.started, made.status) == (False, 0)


async def test_a_piece_cannot_come_before_its_head() -> None:
    with pytest.raises(AssertionError, match="after start"):
        await reply().write(b"x")


async def test_what_was_staged_is_the_whole_answer_unless_a_stream_has_begun() -> None:
    wires = Wire(), Wire(), Wire()
    whole, stream, old = (
        reply(wire=wire, version=v) for wire, v in zip(wires, VERSIONS, strict=True)
    )
    for made in (stream, old):
        made.start("text/event-stream")
        await made.write(b"data: 1\n\n")
    for made in (whole, stream, old):
        made.stage(b"{}", "application/json")
        made.finish()

    assert wires[0].sent.endswith(b"\r\nContent-Length: 2\r\n\r\n{}")
    assert wires[1].sent.endswith(b"\r\n\r\n9\r\ndata: 1\n\n\r\n2\r\n{}\r\n0\r\n\r\n")
    assert wires[2].sent.endswith(b"\r\n\r\ndata: 1\n\n{}")
    assert [made.kept for made in (whole, stream, old)] == [True, True, False]
    assert [made._x.bytes_out for made in (whole, stream, old)] == [2, 11, 11]


@pytest.mark.parametrize(("version", "words"), [("1.1", b""), ("1.0", b"Connection: keep-alive")])
async def test_a_connection_that_goes_on_is_announced_where_that_is_not_the_rule(
    version: str, words: bytes
) -> None:
    wire = Wire()
    made = reply(wire=wire, version=version)
    made.refuse(BadRequest("x", "y"), b"{}")

    assert words in wire.sent
    assert (b"Connection:" in wire.sent) == bool(words)


async def test_an_answer_to_head_has_no_body() -> None:
    wire = Wire()
    made = reply(wire=wire)
    made._request.method = "HEAD"
    made.refuse(BadRequest("x", "y"), b"{}")

    assert wire.sent.endswith(b"\r\nContent-Length: 2\r\n\r\n")


async def test_a_client_that_is_behind_is_waited_for() -> None:
    wire = Wire()
    made = reply(wire=wire)
    made.start("text/event-stream")
    await made.write(b"x")
    abreast = wire.waits
    wire.behind = 1 << 20
    await made.write(b"")
    await made.write(b"x")

    assert (abreast, wire.waits) == (0, 1)


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
    new = posted(hello(stream=True), "Connection: close", "Expect: 100-continue")  # has come
    old = posted(hello(stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    async with proxied(tmp_path, fake_engine) as proxy:
        newer, older = await proxy.say(new), await proxy.say(old)

    assert newer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert newer.endswith(b"\r\n0\r\n\r\n")
    assert b"\r\nX-Accel-Buffering: no\r\n" in newer
    assert older.endswith(b"data: [DONE]\n\n")


async def test_a_stream_may_end_with_nothing_staged(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(model="fake-no-done", stream=True))

    assert b"[DONE]" not in body
