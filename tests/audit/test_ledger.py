import asyncio
from pathlib import Path

import pytest
import uvloop
from tests.audit.logs import (
    ORIGIN,
    FaultyFiles,
    SetClock,
    closing,
    converse,
    kinds_of,
    lines_of,
    opening,
    put_lines,
    records_of,
    sign_only,
    write_log,
)

from tidegate.audit import (
    Ledger,
    LedgerDamaged,
    LedgerFailed,
    LedgerLocked,
    Limits,
    Receipt,
    RecordError,
    verify,
)
from tidegate.audit import ledger as ledger_module
from tidegate.audit.frame import unframed


async def many(directory: Path) -> None:
    ledger = Ledger.open(directory, origin=ORIGIN)
    futures = [ledger.submit(opening(f"req-{i}")) for i in range(1000)]
    receipts = await asyncio.gather(*futures)
    leaves = [unframed(line) for line in lines_of(directory)]

    assert [2 + i for i in range(1000)] == [receipt.n for receipt in receipts]
    assert [leaves[receipt.n] for receipt in receipts] == [r.leaf for r in receipts]
    await ledger.close()


def test_a_thousand_at_once_are_durable_in_order(tmp_path: Path) -> None:
    asyncio.run(many(tmp_path))
    records = records_of(tmp_path)

    assert [f"req-{i}" for i in range(1000)] == [r["req"]["id"] for r in records[2:1002]]
    assert [*range(len(records))] == [record["n"] for record in records]
    assert verify(tmp_path).exit_code == 0


def test_uvloop_is_served_as_well(tmp_path: Path) -> None:
    uvloop.run(many(tmp_path))

    assert verify(tmp_path).exit_code == 0


def test_what_comes_during_a_sync_is_the_next_batch(tmp_path: Path) -> None:
    files = FaultyFiles()

    async def run() -> int:
        ledger = Ledger.open(tmp_path, origin=ORIGIN, files=files, limits=Limits(floor_s=0))
        files.gate.clear()
        files.entered.clear()
        files.calls.clear()
        first = ledger.submit(opening())
        await asyncio.to_thread(files.entered.wait, 10)
        rest = [ledger.submit(opening()) for _ in range(100)]
        files.gate.set()
        await asyncio.gather(first, *rest)
        syncs = files.calls.count("sync")
        await ledger.close()
        return syncs

    assert asyncio.run(run()) == 2


async def counted(files: FaultyFiles, ledger: Ledger, *records: asyncio.Future[Receipt]) -> int:
    """How many syncs it takes until these records are durable."""
    files.calls.clear()
    await asyncio.wait_for(asyncio.gather(*records), 10)
    return files.calls.count("sync")


def test_what_is_submitted_in_one_turn_of_the_loop_is_one_sync(tmp_path: Path) -> None:
    files = FaultyFiles()

    async def run() -> int:
        ledger = Ledger.open(tmp_path, origin=ORIGIN, files=files)
        records = [ledger.submit(opening(), soon=False) for _ in range(5)]
        records += [ledger.submit(opening()) for _ in range(5)]
        syncs = await counted(files, ledger, *records)
        await ledger.close()
        return syncs

    assert asyncio.run(run()) == 1


def test_a_record_that_is_not_wanted_waits_until_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "LAZY_S", 3600.0)
    files = FaultyFiles()

    async def run() -> tuple[int, bool, int]:
        ledger = Ledger.open(tmp_path, origin=ORIGIN, files=files)
        first = ledger.submit(opening(), soon=False)
        syncs = await counted(files, ledger, ledger.submit(opening()))
        second = ledger.submit(opening(), soon=False)
        early = await asyncio.wait({second}, timeout=0)
        ledger.hurry()
        more = await counted(files, ledger, second)
        await ledger.close()
        return syncs, first.done() and not early[0], more

    assert asyncio.run(run()) == (1, True, 1)


def test_a_record_that_nobody_wants_is_written_all_the_same(tmp_path: Path) -> None:
    async def run() -> None:
        ledger = Ledger.open(tmp_path, origin=ORIGIN)
        for _ in range(2):
            await asyncio.wait_for(ledger.submit(opening(), soon=False), 10)
        ledger.submit(opening(), soon=False)
        await ledger.close()

    asyncio.run(run())
    assert kinds_of(tmp_path)[2:5] == ["llm.decision"] * 3


def test_a_log_is_begun_and_ended(tmp_path: Path) -> None:
    write_log(tmp_path, 1)

    assert kinds_of(tmp_path) == [
        "log.genesis",
        "log.open",
        "llm.decision",
        "llm.completion",
        "log.close",
    ]
    assert records_of(tmp_path)[0]["origin"] == ORIGIN


def test_a_second_run_goes_on(tmp_path: Path) -> None:
    write_log(tmp_path, 1)
    write_log(tmp_path, 1)

    assert kinds_of(tmp_path)[4:7] == ["log.close", "log.open", "llm.decision"]
    assert verify(tmp_path).exit_code == 0


def test_a_crash_ends_the_decisions_it_left(tmp_path: Path) -> None:
    write_log(tmp_path, 2)
    put_lines(tmp_path, [*lines_of(tmp_path)[:5], b'{"c":"'])
    sign_only(tmp_path, 2)
    write_log(tmp_path, 1)
    records = records_of(tmp_path)

    assert [record["k"] for record in records[5:8]] == ["log.recovered", "log.open", "llm.abort"]
    assert (records[7]["ref"], records[7]["why"]) == (records[4]["id"], "crashed")
    assert verify(tmp_path).exit_code == 0


def test_times_come_from_the_clock(tmp_path: Path) -> None:
    async def run() -> None:
        ledger = Ledger.open(tmp_path, origin=ORIGIN, clock=SetClock())
        await converse(ledger, 1)
        await ledger.close()

    asyncio.run(run())

    assert {record["t2"] for record in records_of(tmp_path)} == {SetClock().now_us}


def test_a_faulty_record_is_its_callers_error(tmp_path: Path) -> None:
    async def run() -> None:
        ledger = Ledger.open(tmp_path, origin=ORIGIN)
        faulty = ledger.submit({"k": "x", "score": 0.5})
        await ledger.append({"k": "admin.reload"})
        with pytest.raises(RecordError):
            await faulty
        await ledger.close()

    asyncio.run(run())
    assert verify(tmp_path).exit_code == 0


def test_health_follows_the_disk(tmp_path: Path) -> None:
    files = FaultyFiles()

    async def run() -> list[tuple[bool, str]]:
        seen = []
        limits = Limits(retry_s=3600)
        ledger = Ledger.open(tmp_path, origin=ORIGIN, files=files, limits=limits)
        seen.append((ledger.healthy, ledger.failure))
        files.room = 0
        with pytest.raises(LedgerFailed):
            await ledger.append(opening())
        seen.append((ledger.healthy, ledger.failure))
        with pytest.raises(LedgerFailed):
            ledger.submit(opening())
        files.room = -1
        await ledger.close()
        seen.append((ledger.healthy, ledger.failure))
        return seen

    assert asyncio.run(run()) == [
        (True, ""),
        (False, "the log cannot be written: No space left on device"),
        (False, "the log is closed"),
    ]
    assert verify(tmp_path).exit_code == 0


def test_a_waiter_that_is_cancelled_leaves_its_record(tmp_path: Path) -> None:
    async def run() -> None:
        ledger = Ledger.open(tmp_path, origin=ORIGIN)
        task = asyncio.ensure_future(ledger.append(opening("left")))
        await asyncio.sleep(0)
        task.cancel()
        await ledger.append(opening("stayed"))
        await ledger.close()

    asyncio.run(run())
    assert [r["req"]["id"] for r in records_of(tmp_path)[2:4]] == ["left", "stayed"]


def test_closing_writes_what_waits(tmp_path: Path) -> None:
    async def run() -> None:
        ledger = Ledger.open(tmp_path, origin=ORIGIN)
        asked = opening()
        futures = [ledger.submit(asked), ledger.submit(closing(asked.id))]
        await ledger.close()
        await ledger.close()

        assert [(await future).n for future in futures] == [2, 3]
        with pytest.raises(LedgerFailed, match="closed"):
            ledger.submit(opening())

    asyncio.run(run())
    report = verify(tmp_path)

    assert (report.exit_code, report.logs[0].signed) == (0, 5)


def test_a_log_has_one_writer(tmp_path: Path) -> None:
    async def run() -> None:
        ledger = Ledger.open(tmp_path, origin=ORIGIN)
        with pytest.raises(LedgerLocked):
            Ledger.open(tmp_path, origin=ORIGIN)
        await ledger.close()

    asyncio.run(run())


def test_a_damaged_log_is_not_opened(tmp_path: Path) -> None:
    write_log(tmp_path, 3)
    put_lines(tmp_path, lines_of(tmp_path)[:4])

    with pytest.raises(LedgerDamaged):
        Ledger.open(tmp_path, origin=ORIGIN)


@pytest.mark.parametrize("room", [0, 400])
def test_a_log_that_cannot_be_written_is_not_opened(tmp_path: Path, room: int) -> None:
    files = FaultyFiles()
    files.room = room

    with pytest.raises(LedgerFailed, match="No space left"):
        Ledger.open(tmp_path, origin=ORIGIN, files=files)
    write_log(tmp_path, 1)
    assert verify(tmp_path).exit_code == 0
