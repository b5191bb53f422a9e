"""The whole demo over real sockets, with the real proxy."""

import asyncio
import io
import os
import signal
import socket
from pathlib import Path

import pytest

from tidegate.audit import Ledger, verify
from tidegate.proxy.demo import demo
from tidegate.proxy.demo import run as subject
from tidegate.proxy.demo.engine import DemoEngine
from tidegate.proxy.demo.prose import MADE_UP_KEY
from tidegate.proxy.demo.run import configuration
from tidegate.proxy.demo.tour import CARD, EMAIL, STEPS


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


async def toured(audit_dir: Path | None, out: io.StringIO) -> int:
    return await demo(once=True, audit_dir=audit_dir, port=0, out=out)


def lines_with(text: str, out: str) -> list[str]:
    return [line for line in out.splitlines() if text in line]


async def test_every_step_comes_out_as_named_and_the_log_verifies(tmp_path: Path) -> None:
    out = io.StringIO()
    code = await toured(tmp_path / "log", out)
    text = out.getvalue()

    assert lines_with("✗", text) == []
    assert code == 0
    for number, step in enumerate(STEPS, 1):
        assert f"  ✓  {number}. {step.title}" in text
    assert len(lines_with("tidegate audit show ", text)) == len(STEPS)
    assert "inspect.input" in text
    assert verify(tmp_path / "log").exit_code == 0


async def test_the_output_shows_only_the_personal_data_the_client_sends_and_never_the_key(
    tmp_path: Path,
) -> None:
    out = io.StringIO()
    await toured(tmp_path / "log", out)
    text = out.getvalue()

    assert len(lines_with(EMAIL, text)) == 1
    assert lines_with(CARD, text) == lines_with("client sent: ", text)
    assert MADE_UP_KEY not in text
    assert "\x1b" not in text


async def test_a_log_that_is_there_is_continued(tmp_path: Path) -> None:
    first = await toured(tmp_path, io.StringIO())
    second = await toured(tmp_path, io.StringIO())
    (log,) = verify(tmp_path).logs

    assert (first, second) == (0, 0)
    assert log.decisions == 2 * len(STEPS)


async def test_without_the_guard_the_demo_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lax(*args: object) -> object:
        config = configuration(*args)  # type: ignore[arg-type]  # handed through
        policy = tmp_path / "lax.yaml"
        policy.write_text("version: 1\nname: lax\nrules: []\n")
        weak = config.policies["default"].model_copy(update={"pack": None, "file": policy})
        return config.model_copy(update={"policies": {"default": weak}})

    monkeypatch.setattr(subject, "configuration", lax)
    out = io.StringIO()
    code = await toured(tmp_path / "log", out)

    assert code == 1
    assert [line[5] for line in lines_with("  ✗  ", out.getvalue())] == ["3", "4", "5", "6"]


async def test_without_a_folder_the_log_is_in_a_new_one_that_is_named_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = io.StringIO()
    code = await toured(None, out)
    (line,) = lines_with("tidegate audit verify ", out.getvalue())
    folder = Path(line.rpartition(" ")[2])

    assert code == 0
    assert folder.parent.parent == tmp_path
    assert verify(folder).exit_code == 0


async def test_with_a_collector_it_is_named_and_no_trace_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        out = io.StringIO()
        code = await toured(tmp_path, out)

    assert code == 0
    assert f"traces of all: sent to {endpoint}" in out.getvalue()
    assert "inspect.input" not in out.getvalue()


async def test_what_was_not_measured_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_notebook: object, _request_id: str) -> None:
        raise TimeoutError

    monkeypatch.setattr("tidegate.proxy.demo.watch.Notebook.of", never)
    out = io.StringIO()
    code = await toured(tmp_path, out)

    assert code == 1
    assert "was not measured" in out.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_stays_up_until_it_is_told_to_stop(
    tmp_path: Path, number: signal.Signals
) -> None:
    class Watched(io.StringIO):
        def write(self, text: str, /) -> int:
            if "Stop with Ctrl-C" in text:
                asyncio.get_running_loop().call_later(0, os.kill, os.getpid(), number)
            return super().write(text)

    out = Watched()
    code = await demo(once=False, audit_dir=tmp_path, port=0, out=out)

    assert code == 0
    assert "/v1/chat/completions -H" in out.getvalue()
    assert verify(tmp_path).exit_code == 0


async def test_a_given_port_that_is_taken_is_said(tmp_path: Path) -> None:
    engine = DemoEngine("in the way")
    await engine.start()
    out = io.StringIO()
    try:
        code = await demo(once=True, audit_dir=tmp_path, port=engine.port, out=out)
    finally:
        await engine.kill()

    assert code == 1
    assert "address already in use" in out.getvalue()


async def test_a_log_that_another_process_writes_is_said(tmp_path: Path) -> None:
    log = Ledger.open(tmp_path, origin="tidegate-demo")
    out = io.StringIO()
    try:
        code = await toured(tmp_path, out)
    finally:
        await log.close()

    assert code == 1
    assert out.getvalue().startswith("  ✗  The demo cannot run: ")


def test_the_usual_port_is_left_alone_if_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(subject, "USUAL_PORT", taken.getsockname()[1])

        assert subject._port(None) == 0


def test_the_usual_port_is_used_if_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    monkeypatch.setattr(subject, "USUAL_PORT", free)

    assert subject._port(None) == free
