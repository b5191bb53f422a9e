import asyncio
from pathlib import Path

import pytest
from tests.fakes.answers import Stall, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import DONE, finish, frame, role, says
from tests.gates import PATIENCE, configured, detectors, eventually, hello, posted, proxied

from tidegate.audit import LedgerLocked, verify
from tidegate.proxy import gate as subject
from tidegate.proxy.gate import Gate, running

MIDWAY = stream(frame(role()), frame(says("Hello")), Stall(), frame(finish()), DONE)


async def test_every_listener_serves_and_has_an_address(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    listeners = {"main": {"port": 0}, "second": {"host": "::1", "port": 0}}
    async with proxied(tmp_path, fake_engine, listeners=listeners) as proxy:
        urls = [proxy.gate.url(), proxy.gate.url("second")]
        for url in urls:
            async with proxy.http.get(url + "/v1/models") as answer:
                assert answer.status == 200

    assert urls[0].startswith("http://127.0.0.1:")
    assert urls[1].startswith("http://[::1]:")


async def test_detectors_are_loaded_unless_given(
    tmp_path: Path, fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "load_detectors", lambda _: detectors())
    config = configured(tmp_path, {"a": fake_engine.url})
    async with running(config) as gate:
        assert gate.url("admin").startswith("http://127.0.0.1:")


async def test_engines_are_shown_with_their_requests(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(MIDWAY)
    async with proxied(tmp_path, fake_engine) as proxy, proxy.post(hello(stream=True)) as answer:
        async with proxy.http.get(proxy.gate.url("admin") + "/metrics") as page:
            text = await page.text()
        (await fake_engine.call()).resume.set()
        await answer.read()
        server = proxy.gate.server
        assert server is not None
        await eventually(lambda: server.active == 0)

    assert 'tidegate_engine_up{engine="a"} 1.0' in text
    assert 'tidegate_engine_in_flight{engine="a"} 1.0' in text
    assert "http_server_active_requests 1.0" in text


async def test_a_running_answer_finishes_before_the_end(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(MIDWAY)
    config = configured(tmp_path, {"a": fake_engine.url})
    async with running(config, detectors=detectors()) as gate:
        reader, writer = await asyncio.open_connection(*gate.addresses["main"])
        writer.write(posted(hello(stream=True)))
        await asyncio.wait_for(reader.readuntil(b"Hello"), PATIENCE)
        asyncio.get_running_loop().call_later(0.02, (await fake_engine.call()).resume.set)
    rest = await asyncio.wait_for(reader.read(-1), PATIENCE)
    writer.close()

    assert rest.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
    assert verify(config.audit.dir).logs[0].completions == 1


async def test_what_is_cut_is_aborted_on_record(tmp_path: Path, fake_engine: FakeEngine) -> None:
    fake_engine.then(MIDWAY)
    async with proxied(tmp_path, fake_engine) as proxy:
        async with proxy.connection() as (reader, writer):
            writer.write(posted(hello(stream=True)))
            await asyncio.wait_for(reader.readuntil(b"Hello"), PATIENCE)
            proxy.gate.cut()
            rest = await asyncio.wait_for(reader.read(-1), PATIENCE)
        await eventually((await fake_engine.call()).gone.is_set)
    [closing] = proxy.closings

    assert b"[DONE]" not in rest
    assert closing["st"] == "aborted"


async def test_a_gate_that_serves_nothing_has_nothing_to_cut(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        gate = Gate(proxy.gate.world, {}, [])
        gate.cut()

    assert gate.addresses == {}


async def test_a_start_that_fails_leaves_nothing_open(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        (tmp_path / "second").mkdir()
        taken = configured(
            tmp_path / "second",
            {"a": fake_engine.url},
            listeners={"main": {"port": proxy.port}},
        )
        with pytest.raises(OSError, match="in use"):
            async with running(taken, detectors=detectors()):
                pass
        free = configured(tmp_path / "second", {"a": fake_engine.url})
        async with running(free, detectors=detectors()):
            pass
        same = configured(tmp_path, {"a": fake_engine.url})
        with pytest.raises(LedgerLocked):
            async with running(same, detectors=detectors()):
                pass
