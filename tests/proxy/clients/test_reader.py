from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gates import hello, posted

from tidegate.proxy.clients.reader import LONGEST_FIELD, MOST_AHEAD, RequestReader
from tidegate.proxy.clients.request import Request
from tidegate.proxy.config import Limits

GET = b"GET /v1/models?x=1 HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


class Requests:
    """Receives what a reader makes."""

    def __init__(self, **limits: Any) -> None:
        self.limits = Limits(**limits)
        self.all: list[Request] = []
        self.reader = RequestReader(self, self.limits)

    def new(self) -> Request:
        request = Request(None, lambda: None, self.limits.body)  # type: ignore[arg-type]  # unused
        request.keep_alive = True
        return request

    def arrived(self, request: Request) -> None:
        self.all.append(request)

    @property
    def faults(self) -> list[tuple[int, str] | None]:
        return [(r.fault.status, r.fault.code) if r.fault else None for r in self.all]


def read(*pieces: bytes, **limits: Any) -> Requests:
    requests = Requests(**limits)
    for piece in pieces:
        requests.reader.feed(piece)
    return requests


def test_a_request_is_handed_on_with_its_head_and_filled_with_its_body() -> None:
    whole = posted(b"{}", "X-A: 1", "X-A: 2")
    requests = read(whole[:-2])
    [request] = requests.all
    before = request.complete
    requests.reader.feed(whole[-2:])

    assert (request.method, request.path, request.version) == (
        "POST",
        "/v1/chat/completions",
        "1.1",
    )
    assert request.values(b"x-a") == ["1", "2"]
    assert (before, request.complete) == (False, True)
    assert request.keep_alive


@given(st.lists(st.integers(1, 600), max_size=6))
def test_a_cut_anywhere_changes_nothing(cuts: list[int]) -> None:
    chunked = CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"
    data = posted(hello()) + GET + b"\r\n" + chunked
    ends = sorted({min(cut, len(data)) for cut in cuts})
    pieces = [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]
    cut, whole = read(*pieces), read(data)

    def seen(requests: Requests) -> list[Any]:
        return [(r.method, r.target, r.headers, r.size, r.complete) for r in requests.all]

    assert seen(cut) == seen(whole)
    assert len(cut.all) == 3


@given(st.binary(max_size=300), st.integers(0, 300))
def test_whatever_comes_is_a_request_a_fault_or_still_coming(noise: bytes, at: int) -> None:
    whole = posted(hello())
    requests = read(whole[:at] + noise, whole[at:])

    assert len([f for f in requests.faults if f]) <= 1
    assert all(r.fault is None or not r.keep_alive for r in requests.all)
    assert not any(requests.faults) or requests.reader.over


@pytest.mark.parametrize(
    ("pieces", "fault"),
    [
        ([b"nonsense\r\n\r\n"], (400, "bad_http")),
        ([b"GET /" + b"x" * LONGEST_FIELD], (431, "headers_too_large")),
        ([GET, b"X: " + b"x" * LONGEST_FIELD + b"\r\n\r\n"], (431, "headers_too_large")),
        ([GET, b"X: x\r\n" * 101], (400, "bad_http")),
        ([GET, *[b"X" * 1000] * 70], (431, "headers_too_large")),
        ([GET, *[b"X: " + b"x" * 8000 + b"\r\n"] * 9], (431, "headers_too_large")),
        ([(GET + b"\r\n") * (MOST_AHEAD + 1)], (400, "bad_http")),
    ],
)
def test_what_is_too_much_or_no_http_arrives_as_a_fault_and_ends_it(
    pieces: list[bytes], fault: tuple[int, str]
) -> None:
    requests = read(*pieces)
    count = len(requests.all)
    requests.reader.feed(GET + b"\r\n")

    assert requests.faults[-1] == fault
    assert requests.reader.over
    assert len(requests.all) == count


def test_a_fault_keeps_what_is_known_of_its_request() -> None:
    [request] = read(GET + b"X-A: a\0b\r\n\r\n").all

    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers == {b"host": b"x"}


@pytest.mark.parametrize("more", [b"zz\r\n", b"0\r\nX: a\0\r\n"])
def test_a_fault_in_a_body_is_told_to_its_request(more: bytes) -> None:
    requests = read(CHUNKED, b"1\r\nx\r\n", more)
    [request] = requests.all

    assert request.fault is not None
    assert not request.complete
    assert requests.reader.over


@pytest.mark.parametrize("more", [b"0\r\nX: ", b"0;x="])
def test_what_surrounds_a_body_is_bounded_too(more: bytes) -> None:
    requests = read(CHUNKED, more, *[b"x" * 1000] * 70)
    [request] = requests.all

    assert request.fault is not None
    assert request.fault.code == "headers_too_large"


def test_a_long_body_of_small_chunks_is_taken() -> None:
    requests = read(CHUNKED, *[b"1;x=xxxx\r\n", b"x\r\n"] * 9000, b"0\r\n\r\n")
    [request] = requests.all

    assert (request.fault, request.size, request.complete) == (None, 9000, True)


def test_headers_behind_a_body_are_read_over() -> None:
    [request] = read(CHUNKED + b"1\r\nx\r\n0\r\nX-A: a\r\n\r\n").all

    assert request.complete
    assert request.header(b"x-a") is None


def test_a_long_body_in_one_read_is_not_counted_to_the_next_head() -> None:
    body = b"x" * 100_000
    requests = read(posted(body) + GET[:9], GET[9:] + b"\r\n")

    assert requests.faults == [None, None]


def test_nothing_is_read_behind_an_upgrade() -> None:
    upgrade = GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    requests = read(upgrade + b"\x81\x05hello", GET + b"\r\n")
    [request] = requests.all

    assert request.complete
    assert requests.reader.over


def test_it_fails_once() -> None:
    requests = read(b"nonsense\r\n\r\n")
    [request] = requests.all
    assert request.fault is not None
    requests.reader.fail(request.fault)

    assert requests.all == [request]
