from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import HttpVersion10, HttpVersion11
from tests.fakes.engine import FakeEngine
from tests.gates import hello, posted, proxied

from tidegate.proxy.responses import EVENTS, Chunked, Whole


class Wire:
    """A client's transport, and the writer that waits for it."""

    def __init__(self, *, gone: bool = False) -> None:
        self.sent = b""
        self.drained = 0
        self.behind = 0
        self.gone = gone

    def write(self, data: bytes) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.gone

    def get_write_buffer_size(self) -> int:
        return self.behind

    async def drain(self) -> None:
        self.drained += 1


def request(wire: Wire | None, **more: Any) -> Any:
    facts = {"keep_alive": True, "method": "POST", "version": HttpVersion11} | more
    return SimpleNamespace(transport=wire, writer=wire, **facts)


async def test_a_whole_answer_goes_out_in_one_piece_and_is_waited_for() -> None:
    wire, answer = Wire(), Whole(b"{}", "application/json", "id-1")
    await answer.prepare(request(wire))
    await answer.write_eof()
    head, _, body = wire.sent.partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
    assert b"\r\nX-Request-Id: id-1\r\nServer: tidegate\r\nDate: " in head
    assert head.endswith(b"\r\nContent-Length: 2")
    assert b"\r\nConnection: close\r\n" not in head
    assert body == b"{}"
    assert wire.drained == 1
    assert answer.keep_alive


async def test_an_answer_to_head_has_the_length_and_no_body() -> None:
    wire, answer = Wire(), Whole(b"{}", "application/json", "id-1")
    await answer.prepare(request(wire, method="HEAD", keep_alive=False))

    assert wire.sent.endswith(b"\r\nConnection: close\r\nContent-Length: 2\r\n\r\n")
    assert not answer.keep_alive


async def test_an_answer_that_was_never_sent_has_no_end() -> None:
    await Whole(b"{}", "application/json", "id-1").write_eof()
    await Chunked(EVENTS, "id-1").write_eof()


async def test_a_stream_is_chunked_and_begins_and_ends_once() -> None:
    wire, answer = Wire(), Chunked(EVENTS, "id-1")
    await answer.prepare(request(wire))
    await answer.prepare(request(wire))
    await answer.write(b"data: 1\n\n")
    await answer.write(b"")
    await answer.write_eof(b"x")
    await answer.write_eof()
    head, _, body = wire.sent.partition(b"\r\n\r\n")

    assert b"\r\nTransfer-Encoding: chunked\r\n" in head
    assert b"\r\nX-Accel-Buffering: no" in head
    assert body == b"9\r\ndata: 1\n\n\r\n1\r\nx\r\n0\r\n\r\n"
    assert answer.keep_alive


async def test_a_client_that_is_behind_is_waited_for() -> None:
    wire, answer = Wire(), Chunked(EVENTS, "id-1")
    await answer.prepare(request(wire))
    await answer.write(b"data: 1\n\n")
    abreast = wire.drained
    wire.behind = 1 << 20
    await answer.write(b"data: 1\n\n")

    assert (abreast, wire.drained) == (0, 1)


async def test_a_stream_to_http_1_0_ends_with_its_connection() -> None:
    wire, answer = Wire(), Chunked(EVENTS, "id-1")
    await answer.prepare(request(wire, version=HttpVersion10))
    await answer.write(b"data: 1\n\n")
    await answer.write_eof()

    assert b"\r\nConnection: close\r\n" in wire.sent
    assert wire.sent.endswith(b"\r\n\r\ndata: 1\n\n")
    assert not answer.keep_alive


@pytest.mark.parametrize("wire", [None, Wire(gone=True)])
async def test_nothing_is_written_to_a_client_that_left(wire: Wire | None) -> None:
    with pytest.raises(ConnectionResetError):
        await Whole(b"{}", "application/json", "id-1").prepare(request(wire))
    with pytest.raises(ConnectionResetError):
        await Chunked(EVENTS, "id-1").prepare(request(wire))


async def test_a_piece_cannot_come_before_the_head() -> None:
    with pytest.raises(ConnectionResetError):
        await Chunked(EVENTS, "id-1").write(b"x")


async def test_a_connection_is_kept_after_both(tmp_path: Path, fake_engine: FakeEngine) -> None:
    requests = posted(hello()) + posted(hello(stream=True)) + posted(hello(), "Connection: close")
    async with proxied(tmp_path, fake_engine) as proxy:
        answers = await proxy.say(requests)

    assert answers.count(b"HTTP/1.1 200 OK") == 3
