import asyncio
from typing import Any

import pytest
from tests.gates import PATIENCE, eventually

from tidegate.proxy.clients.request import Request
from tidegate.proxy.errors import BadRequest

FAULT = BadRequest("bad_http", "x")


def request(limit: int = 100) -> tuple[Request, list[str]]:
    """A request, and a list that tells how often its body was asked for."""
    pulls: list[str] = []
    sender: Any = None
    return Request(sender, lambda: pulls.append("pull"), limit), pulls


async def waiting(made: Request, pulls: list[str]) -> "asyncio.Task[bytes]":
    task = asyncio.ensure_future(made.body())
    await eventually(lambda: bool(pulls))
    return task


def test_headers_are_found_by_their_small_names_first_or_all() -> None:
    made, _ = request()
    for name, value in ((b"a", b" 1\t"), (b"b", b"\xe4\xbd\xa0"), (b"a", b"2"), (b"b", b"\xff")):
        made.add(name, value)

    assert made.header(b"a") == "1"
    assert made.values(b"a") == ["1", "2"]
    assert made.values(b"b") == ["你", "\udcff"]
    assert made.header(b"c") is None
    assert made.values(b"c") == []


@pytest.mark.parametrize("target", ["/v1/x", "/v1/x?", "/v1/x?a=b?c"])
def test_the_path_is_the_target_without_its_query(target: str) -> None:
    made, _ = request()
    made.target = target

    assert made.path == "/v1/x"


@pytest.mark.parametrize("pieces", [[], [b"a"], [b"a", b"b"]])
async def test_a_body_that_has_come_is_given_at_once(pieces: list[bytes]) -> None:
    made, pulls = request()
    for piece in pieces:
        made.took(piece)
    held = made.held
    made.end()

    assert await made.body() == b"".join(pieces)
    assert held == made.size == len(b"".join(pieces))
    assert pulls == []


async def test_a_body_that_is_coming_is_asked_for_and_waited_for() -> None:
    made, pulls = request()
    made.took(b"a")
    task = await waiting(made, pulls)
    made.took(b"b")
    held = made.held
    made.end()

    assert await asyncio.wait_for(task, PATIENCE) == b"ab"
    assert held == 0
    assert pulls == ["pull"]


@pytest.mark.parametrize("early", [True, False])
async def test_a_body_over_the_limit_is_not_waited_for(*, early: bool) -> None:
    made, pulls = request(limit=3)
    if early:
        made.took(b"abcd")
        task = asyncio.ensure_future(made.body())
    else:
        task = await waiting(made, pulls)
        made.took(b"abcd")
    with pytest.raises(BadRequest) as caught:
        await asyncio.wait_for(task, PATIENCE)

    assert caught.value.code == "body_too_large"
    assert made._pieces == []


@pytest.mark.parametrize("early", [True, False])
async def test_a_body_that_breaks_off_is_not_waited_for(*, early: bool) -> None:
    made, pulls = request()
    made.keep_alive = True
    if early:
        made.break_off(FAULT)
        task = asyncio.ensure_future(made.body())
    else:
        task = await waiting(made, pulls)
        made.break_off(FAULT)
    with pytest.raises(BadRequest) as caught:
        await asyncio.wait_for(task, PATIENCE)

    assert caught.value.code == "bad_body"
    assert not made.keep_alive


@pytest.mark.parametrize("fault", [True, False])
async def test_what_is_passed_over_is_not_kept(*, fault: bool) -> None:
    made, pulls = request(limit=3)
    made.took(b"ab")
    task = asyncio.ensure_future(made.pass_over())
    await eventually(lambda: bool(pulls))
    made.took(b"cdef")
    kept = list(made._pieces)
    if fault:
        made.break_off(FAULT)
    else:
        made.end()
    await asyncio.wait_for(task, PATIENCE)

    assert kept == []
    assert made.size == 6
