from pathlib import Path

import pytest
from tests.audit.logs import FaultyFiles
from tests.fakes.engine import FakeEngine
from tests.gates import Proxy, eventually, hello, proxied


async def page(proxy: Proxy, path: str) -> tuple[int, str, str]:
    async with proxy.http.get(proxy.gate.url("admin") + path) as answer:
        return answer.status, await answer.text(), answer.headers["Server"]


async def test_livez_answers_while_the_process_runs(tmp_path: Path) -> None:
    async with proxied(tmp_path, "http://127.0.0.1:9") as proxy:
        assert await page(proxy, "/livez") == (200, "ok\n", "tidegate")


async def test_readyz_names_every_trouble(tmp_path: Path) -> None:
    files = FaultyFiles()
    async with proxied(tmp_path, "http://127.0.0.1:9", files=files) as proxy:
        await eventually(lambda: proxy.engines["a"].probed is False)
        files.failing = {"write": 10**6, "create": 10**6}
        await proxy.ask(hello())
        status, text, server = await page(proxy, "/readyz")
        files.failing = {}

    assert (status, server) == (503, "tidegate")
    assert text.splitlines()[0] == "pool main: no engine is up"
    assert text.splitlines()[1].startswith("audit log: the log cannot be written")


async def test_readyz_is_green_when_all_is_well_and_red_while_draining(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        await eventually(lambda: proxy.engines["a"].probed is True)
        green = await page(proxy, "/readyz")
        assert proxy.gate.admin is not None
        proxy.gate.admin.draining = True
        red = await page(proxy, "/readyz")

    assert green == (200, "ok\n", "tidegate")
    assert red == (503, "draining: the proxy is about to end\n", "tidegate")


async def test_a_pool_no_route_leads_to_is_no_trouble(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    engines = {"a": {"url": fake_engine.url}, "b": {"url": "http://127.0.0.1:9"}}
    pools = {"main": {"engines": ["a"]}, "spare": {"engines": ["b"]}}
    async with proxied(tmp_path, fake_engine, engines=engines, pools=pools) as proxy:
        await eventually(lambda: proxy.engines["b"].probed is False)
        await eventually(lambda: proxy.engines["a"].probed is True)
        status, _, _ = await page(proxy, "/readyz")

    assert status == 200


async def test_metrics_are_in_prometheus_format(tmp_path: Path, fake_engine: FakeEngine) -> None:
    async with (
        proxied(tmp_path, fake_engine) as proxy,
        proxy.http.get(proxy.gate.url("admin") + "/metrics") as answer,
    ):
        kind, text = answer.headers["Content-Type"], await answer.text()

    assert kind.startswith("text/plain; version=")
    assert "tidegate_audit_log_up 1.0" in text


@pytest.mark.parametrize("path", ["/", "/v1/models", "/v1/chat/completions"])
async def test_nothing_else_is_served_there(
    tmp_path: Path, fake_engine: FakeEngine, path: str
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        status, _, _ = await page(proxy, path)

    assert status == 404
