import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.audit.logs import ORIGIN, FaultyFiles
from tests.proxy.exchanges import exchange

from tidegate.audit import Ledger, Limits, show
from tidegate.proxy.errors import AuditFailed
from tidegate.proxy.exchange import Exchange
from tidegate.proxy.recorder import Recorder

BOTH = ["llm.decision", "llm.completion"]


def open_log(folder: Path, files: FaultyFiles | None = None) -> Ledger:
    return Ledger.open(folder, origin=ORIGIN, files=files, limits=Limits(retry_s=1000))


def kinds(folder: Path, x: Exchange) -> list[str]:
    return [record["k"] for record in show(folder, x.id)]


def wait_until_healthy(recorder: Recorder) -> None:
    """Return once the log's own thread has written again."""
    while not recorder.healthy:
        pass


async def test_both_records_are_durable_when_an_exchange_is_closed(tmp_path: Path) -> None:
    ledger = open_log(tmp_path)
    recorder, x = Recorder(ledger), exchange()
    recorder.open(x)
    await recorder.opened(x)
    on_disk, waited = kinds(tmp_path, x), x.wait_audit_ns
    x.settle(200)
    await recorder.closed(x)

    assert on_disk == ["llm.decision"]
    assert kinds(tmp_path, x) == BOTH
    assert 0 < waited < x.wait_audit_ns
    assert x.timeline.recorded > 0
    await ledger.close()


async def test_an_exchange_that_was_never_opened_gets_both_records(tmp_path: Path) -> None:
    ledger = open_log(tmp_path)
    recorder, x = Recorder(ledger), exchange()
    await recorder.opened(x)
    await recorder.closed(x)

    assert x.record_id
    assert kinds(tmp_path, x) == BOTH
    await ledger.close()


async def test_an_abandoned_exchange_is_recorded_without_waiting(tmp_path: Path) -> None:
    ledger = open_log(tmp_path)
    recorder, x = Recorder(ledger), exchange()
    recorder.open(x)
    recorder.abandon(x)
    waited = x.wait_audit_ns
    await ledger.close()

    assert waited == 0
    assert kinds(tmp_path, x) == BOTH


async def test_an_exchange_has_one_ending_only(tmp_path: Path) -> None:
    ledger = open_log(tmp_path)
    recorder, x = Recorder(ledger), exchange()
    await recorder.closed(x)
    recorder.abandon(x)
    await ledger.close()

    assert kinds(tmp_path, x) == BOTH


async def test_a_client_that_leaves_stops_the_wait_and_not_the_record(tmp_path: Path) -> None:
    files = FaultyFiles()
    ledger = open_log(tmp_path, files)
    recorder, x = Recorder(ledger), exchange()
    files.gate.clear()
    recorder.open(x)
    waiting = asyncio.ensure_future(recorder.opened(x))
    await asyncio.wait([waiting], timeout=0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    recorder.abandon(x)
    files.gate.set()
    await ledger.close()

    assert kinds(tmp_path, x) == BOTH


async def test_a_log_that_cannot_be_written_refuses_everything(tmp_path: Path) -> None:
    files = FaultyFiles()
    ledger = open_log(tmp_path, files)
    recorder, x, later = Recorder(ledger), exchange(), exchange()
    healthy = recorder.healthy
    files.fail("write", 1000)
    recorder.open(x)
    with pytest.raises(AuditFailed) as waited:
        await recorder.opened(x)
    with pytest.raises(AuditFailed) as submitted:
        recorder.open(later)
    recorder.abandon(x)
    recorder.abandon(later)

    assert healthy
    assert not recorder.healthy
    assert (waited.value.code, waited.value.status) == ("audit_unavailable", 503)
    assert submitted.value.code == "audit_unavailable"
    assert later.record_id == ""
    await ledger.close()


async def test_operators_are_told_once_that_the_log_fails_and_once_that_it_works_again(
    tmp_path: Path,
) -> None:
    files = FaultyFiles()
    ledger = Ledger.open(tmp_path, origin=ORIGIN, files=files, limits=Limits(retry_s=0))
    recorder = Recorder(ledger)
    files.room = 0
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(AuditFailed):
                await recorder.closed(exchange())
        files.room = -1
        await asyncio.to_thread(wait_until_healthy, recorder)
        for x in (exchange(), exchange()):
            recorder.open(x)
            await recorder.opened(x)

    assert logs == [
        {
            "event": "audit.failing",
            "reason": "the log cannot be written: No space left on device",
            "log_level": "error",
        },
        {"event": "audit.working", "log_level": "warning"},
    ]
    await ledger.close()


async def test_a_record_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    ledger = open_log(tmp_path)
    recorder, x = Recorder(ledger), exchange()
    x.timeline.received = 2**70
    recorder.open(x)
    with pytest.raises(AuditFailed):
        await recorder.opened(x)
    recorder.abandon(x)
    await ledger.close()

    assert kinds(tmp_path, x) == []


async def test_no_ending_is_recorded_without_its_decision(tmp_path: Path) -> None:
    ledger = open_log(tmp_path)
    recorder, x = Recorder(ledger), exchange()
    x.timeline.received = 2**70
    recorder.open(x)
    x.timeline.received = 0
    with pytest.raises(AuditFailed):
        await recorder.closed(x)
    await ledger.close()

    assert kinds(tmp_path, x) == []
