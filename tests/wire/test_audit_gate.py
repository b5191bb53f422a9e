"""Nothing is released before it is on record, and nothing passes while there is no record."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.audit.logs import FaultyFiles
from tests.fakes.answers import Stall, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import DONE, finish, frame, role, says
from tests.gates import PATIENCE, eventually, hello, posted, proxied

from tidegate.audit.files import PosixFiles

PRE_UPSTREAM = {"dir": "audit", "mode": "pre_upstream"}


async def entered(files: FaultyFiles) -> None:
    """Wait until the log stands at its closed gate."""
    await eventually(files.entered.is_set)


def shut(files: FaultyFiles) -> None:
    files.entered.clear()
    files.gate.clear()


@pytest.fixture
def files() -> FaultyFiles:
    return FaultyFiles()


async def test_the_first_byte_waits_for_the_opening_record_and_the_last_for_the_closing(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles
) -> None:
    fake_engine.then(stream(frame(role()), frame(says("Hello")), Stall(), frame(finish()), DONE))
    async with (
        proxied(tmp_path, fake_engine, files=files) as proxy,
        proxy.connection() as (reader, writer),
    ):
        shut(files)
        writer.write(posted(hello(stream=True), "Connection: close"))
        call = await fake_engine.call()
        await asyncio.wait_for(call.stalled.wait(), PATIENCE)
        await entered(files)
        before = bytes(reader._buffer)  # type: ignore[attr-defined]  # what has come so far
        files.gate.set()
        opened = await asyncio.wait_for(reader.readuntil(b"Hello"), PATIENCE)
        shut(files)
        call.resume.set()
        await asyncio.wait_for(call.answered.wait(), PATIENCE)
        finished = await asyncio.wait_for(reader.readuntil(b'"stop"'), PATIENCE)
        await entered(files)
        held = bytes(reader._buffer)  # type: ignore[attr-defined]  # what has come so far
        files.gate.set()
        rest = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert before == b""
    assert opened.startswith(b"HTTP/1.1 200 OK")
    assert b"[DONE]" not in finished + held
    assert rest.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


async def test_a_whole_answer_waits_for_both_records(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles
) -> None:
    async with (
        proxied(tmp_path, fake_engine, files=files) as proxy,
        proxy.connection() as (reader, writer),
    ):
        shut(files)
        writer.write(posted(hello(), "Connection: close"))
        call = await fake_engine.call()
        await asyncio.wait_for(call.answered.wait(), PATIENCE)
        await entered(files)
        before = bytes(reader._buffer)  # type: ignore[attr-defined]  # what has come so far
        files.gate.set()
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert before == b""
    assert b"Hello there." in answer


async def test_in_its_stricter_mode_the_engine_waits_too(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles
) -> None:
    async with proxied(tmp_path, fake_engine, files=files, audit=PRE_UPSTREAM) as proxy:
        shut(files)
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(proxy.ask(hello()))
            await entered(files)
            asked = list(fake_engine.calls)
            files.gate.set()

    assert asked == []
    assert answer.result()[0] == 200
    assert len(fake_engine.calls) == 1


async def test_a_refusal_waits_for_its_record(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles
) -> None:
    async with (
        proxied(tmp_path, fake_engine, files=files) as proxy,
        proxy.connection() as (reader, writer),
    ):
        shut(files)
        writer.write(posted(b"{}", "Connection: close"))
        await entered(files)
        before = bytes(reader._buffer)  # type: ignore[attr-defined]  # what has come so far
        files.gate.set()
        answer = await asyncio.wait_for(reader.read(-1), PATIENCE)

    assert before == b""
    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("streams", [False, True])
async def test_a_client_that_leaves_while_the_closing_record_is_written_ends_once(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles, *, streams: bool
) -> None:
    async with proxied(tmp_path, fake_engine, files=files) as proxy:
        async with proxy.connection() as (_, writer):
            shut(files)
            writer.write(posted(hello(stream=streams)))
            call = await fake_engine.call()
            await asyncio.wait_for(call.answered.wait(), PATIENCE)
            await entered(files)
        await proxy.settled()
        files.gate.set()

    assert len(proxy.closings) == 1


@pytest.mark.parametrize("streams", [False, True])
async def test_while_the_log_cannot_be_written_nothing_is_answered_and_then_all_is_well(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles, *, streams: bool
) -> None:
    async with proxied(tmp_path, fake_engine, files=files) as proxy:
        await eventually(lambda: proxy.engines["a"].probed is True)
        files.failing = {"write": 10**6, "create": 10**6}
        first = await proxy.ask(hello(stream=streams))
        asked = len(fake_engine.calls)
        red = await proxy.ready()
        second = await proxy.ask(hello(stream=streams))
        page = await (await proxy.http.get(proxy.gate.url("admin") + "/metrics")).text()
        files.failing = {}
        await _until_ready(proxy.ready)
        third = await (proxy.stream if streams else proxy.ask)(hello(stream=streams))

    assert (first[0], first[1]["error"]["code"]) == (503, "audit_unavailable")
    assert (second[0], second[1]["error"]["code"]) == (503, "audit_unavailable")
    assert red[0] == 503
    assert "audit log: " in red[1]
    assert "tidegate_audit_log_up 0.0" in page
    assert asked <= 1
    assert len(fake_engine.calls) == asked + 1
    assert third


async def test_a_log_that_fails_in_mid_stream_ends_the_stream_with_an_error(
    tmp_path: Path, fake_engine: FakeEngine, files: FaultyFiles
) -> None:
    fake_engine.then(stream(frame(role()), frame(says("Hello")), Stall(), frame(finish()), DONE))
    async with proxied(tmp_path, fake_engine, files=files) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello(stream=True), "Connection: close"))
            await asyncio.wait_for(reader.readuntil(b"Hello"), PATIENCE)
            files.failing = {"write": 10**6, "create": 10**6}
            (await fake_engine.call()).resume.set()
            rest = await asyncio.wait_for(reader.read(-1), PATIENCE)
        files.failing = {}
        await _until_ready(proxy.ready)

    assert b"audit_unavailable" in rest
    assert b"[DONE]" not in rest


async def test_a_log_that_another_process_writes_is_not_opened(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    from tidegate.audit import LedgerLocked  # noqa: PLC0415

    async with proxied(tmp_path, fake_engine):
        with pytest.raises(LedgerLocked):
            async with proxied(tmp_path, fake_engine, files=PosixFiles()):
                pass


async def _until_ready(ready: Callable[[], Awaitable[tuple[int, str]]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await ready())[0] != 200:
            pass
