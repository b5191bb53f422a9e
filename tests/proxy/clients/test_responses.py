from pathlib import Path

import pytest
from tests.fakes.engine import FakeEngine
from tests.gates import hello, posted, proxied

from tidegate.proxy.clients.responses import CLOSE, END, EVENTS, chunk, refusal, stream, whole


def test_a_whole_answer_has_its_length() -> None:
    head, _, body = whole(b"{}", "application/json", "id-1").partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
    assert b"\r\nX-Request-Id: id-1\r\nServer: tidegate\r\nDate: " in head
    assert head.endswith(b" GMT\r\nContent-Length: 2")
    assert body == b"{}"


@pytest.mark.parametrize(("chunked", "count"), [(True, 1), (False, 0)])
def test_a_stream_says_how_it_ends(*, chunked: bool, count: int) -> None:
    head = stream(EVENTS, "id-1", CLOSE, chunked=chunked)

    assert head.count(b"\r\nTransfer-Encoding: chunked\r\n") == count
    assert b"\r\nConnection: close\r\n" in head
    assert head.endswith(b"\r\nX-Accel-Buffering: no\r\n\r\n")


@pytest.mark.parametrize(("status", "line"), [(404, b"404 Not Found"), (499, b"499 Error")])
def test_a_refusal_has_its_status_and_its_headers(status: int, line: bytes) -> None:
    head, _, body = refusal(status, b"{}", [("Allow", "POST")], CLOSE).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 " + line + b"\r\nContent-Type: application/json\r\n")
    assert b"\r\nAllow: POST\r\n" in head
    assert b"\r\nConnection: close\r\n" in head
    assert body == b"{}"


def test_a_chunk_has_its_length_in_hexadecimal() -> None:
    assert chunk(b"x" * 26) + END == b"1a\r\n" + b"x" * 26 + b"\r\n0\r\n\r\n"


async def test_a_connection_is_kept_after_both(tmp_path: Path, fake_engine: FakeEngine) -> None:
    requests = posted(hello()) + posted(hello(stream=True)) + posted(hello(), "Connection: close")
    async with proxied(tmp_path, fake_engine) as proxy:
        answers = await proxy.say(requests)

    assert answers.count(b"HTTP/1.1 200 OK") == 3
