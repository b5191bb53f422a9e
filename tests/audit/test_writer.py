"""The writer is driven turn by turn in the test's own thread: no races, no waiting."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.audit.logs import (
    ORIGIN,
    FaultyFiles,
    SetClock,
    closing,
    kinds_of,
    opening,
    records_of,
    segments,
)

from tidegate.audit import LedgerFailed, Limits, RecordError, verify
from tidegate.audit.inbox import Inbox, Receipt
from tidegate.audit.numbering import Numbering
from tidegate.audit.report import Fault
from tidegate.audit.store import Store
from tidegate.audit.writer import Writer


class Bench:
    """A writer with everything around it in the test's hand."""

    def __init__(self, directory: Path, limits: Limits | None = None) -> None:
        self.directory = directory
        self.files = FaultyFiles()
        self.clock = SetClock()
        limits = limits or Limits()
        self.store, _, log = Store.open(directory, self.files, ORIGIN, self.clock.wall_us())
        self.inbox = Inbox(self.clock, limits)
        numbering = Numbering(log, limits.records)
        self.writer = Writer(self.store, self.inbox, numbering, self.clock, limits)
        genesis = {"k": "log.genesis", "origin": ORIGIN, "vkey": self.store.vkey}
        self.writer.begin([genesis, {"k": "log.open"}])

    def submit(self, record: object) -> asyncio.Future[Receipt]:
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self.inbox.put(record, future)  # type: ignore[arg-type]  # tests pass what they have
        return future

    def turn(self, seconds: float = 0.01) -> None:
        self.clock.advance(seconds)
        self.writer.turn()

    def end(self) -> None:
        self.inbox.close()
        self.writer.run()


def drive(story: Callable[[Bench], Awaitable[None]], directory: Path, **limits: float) -> Bench:
    bench = Bench(directory, Limits(**limits))  # type: ignore[arg-type]  # ints and floats mixed

    async def run() -> None:
        await story(bench)

    asyncio.run(run())
    return bench


def faults(directory: Path) -> list[Fault]:
    return [finding.fault for finding in verify(directory).findings]


def test_a_batch_is_one_write_and_one_sync(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        futures = [bench.submit(opening(f"r-{i}")) for i in range(50)]
        bench.files.calls.clear()
        bench.turn()

        assert bench.files.calls == ["write", "sync"]
        assert [2 + i for i in range(50)] == [(await future).n for future in futures]

    drive(story, tmp_path)


def test_a_cancelled_wait_leaves_the_record(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        gone, stays = bench.submit(opening("gone")), bench.submit(opening("stays"))
        gone.cancel()
        bench.turn()

        assert (await stays).n == 3

    drive(story, tmp_path)
    assert [r["req"]["id"] for r in records_of(tmp_path)[2:]] == ["gone", "stays"]


def test_a_faulty_record_fails_alone(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        before, after = opening("a"), opening("b")
        futures = [bench.submit(record) for record in (before, {"k": "x", "f": 1.5}, after)]
        bench.turn()

        with pytest.raises(RecordError):
            await futures[1]
        assert ((await futures[0]).n, (await futures[2]).n) == (2, 3)

    drive(story, tmp_path, records=3).end()
    assert verify(tmp_path).exit_code == 0


def test_faulty_records_only_are_no_batch(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        for _ in range(10):
            future = bench.submit({"k": 5})
            bench.files.calls.clear()
            bench.turn()

            with pytest.raises(RecordError):
                await future
            assert bench.files.calls == []

    drive(story, tmp_path, records=1).end()


def test_a_decision_lost_with_the_disk_has_no_completion(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        asked = opening()
        bench.files.room = 0
        bench.submit(asked)
        bench.turn()
        bench.files.room = -1
        bench.turn(1)
        late = bench.submit(closing(asked.id))
        bench.turn()

        with pytest.raises(RecordError):
            await late

    drive(story, tmp_path).end()
    assert verify(tmp_path).exit_code == 0


def test_times_never_run_backwards_in_the_log(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        for operation in ("write", "sync"):
            bench.files.fail(operation)
            future = bench.submit(opening())
            bench.turn(1)
            await future

    drive(story, tmp_path).end()
    times = [record["t2"] for record in records_of(tmp_path)]

    assert sorted(times) == times


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_single_failure_costs_a_segment_and_no_record(tmp_path: Path, operation: str) -> None:
    async def story(bench: Bench) -> None:
        asked = opening("a")
        await asyncio.sleep(0)
        before = bench.submit(asked)
        bench.turn()
        bench.files.fail(operation)
        future = bench.submit(closing(asked.id))
        bench.turn()

        assert ((await before).n, (await future).n) == (2, 4)
        assert not bench.inbox.failure

    bench = drive(story, tmp_path)
    bench.end()

    assert len(segments(tmp_path)) == 2
    assert kinds_of(tmp_path)[-3:] == ["log.recovered", "llm.completion", "log.close"]
    assert verify(tmp_path).exit_code == 0
    assert set(faults(tmp_path)) == {Fault.TORN}


def test_a_failure_in_the_first_records_of_a_segment_costs_nothing(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.store.roll()
        bench.files.fail("sync")
        future = bench.submit(opening())
        bench.turn()

        assert (await future).n == 3

    drive(story, tmp_path).end()
    assert verify(tmp_path).exit_code == 0


def test_a_second_failure_refuses_everything(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.files.room = 0
        future = bench.submit(opening())
        bench.turn()

        with pytest.raises(LedgerFailed, match="No space left"):
            await future
        with pytest.raises(LedgerFailed, match="No space left"):
            bench.submit(opening())

    drive(story, tmp_path).store.close()


async def fail_and_come_back(bench: Bench) -> None:
    asked = opening("a")
    first = bench.submit(asked)
    bench.turn()
    bench.files.room = 0
    lost = bench.submit(closing(asked.id))
    bench.turn()
    with pytest.raises(LedgerFailed):
        await lost
    with pytest.raises(LedgerFailed):
        bench.submit(closing("unrecorded"))
    failing = []
    for seconds in (0.1, 1):
        bench.turn(seconds)
        failing.append(bool(bench.inbox.failure))
    bench.files.room = -1
    bench.turn(1)
    last = bench.submit(opening("b"))
    bench.turn()

    assert failing == [True, True]
    assert ((await first).n, (await last).n) == (2, 6)


def test_a_failed_log_comes_back_and_says_what_it_missed(tmp_path: Path) -> None:
    drive(fail_and_come_back, tmp_path).end()
    records = records_of(tmp_path)
    gap = records[4]

    assert [record["k"] for record in records[3:]] == [
        "log.recovered",
        "log.gap",
        "llm.abort",
        "llm.decision",
        "llm.abort",
        "log.close",
    ]
    assert gap["count"] == 2
    assert gap["since"] <= gap["until"]
    assert (records[5]["ref"], records[5]["why"]) == (records[2]["id"], "unrecorded")
    assert verify(tmp_path).exit_code == 0
    assert set(faults(tmp_path)) == {Fault.TORN, Fault.GAP}


def test_a_log_that_failed_without_witness_comes_back_without_a_gap(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.files.room = 0
        bench.inbox.own({"k": "admin.reload"})
        bench.turn()
        bench.files.room = -1
        bench.turn(1)

    drive(story, tmp_path).end()

    assert kinds_of(tmp_path)[2:] == ["log.recovered", "log.close"]
    assert verify(tmp_path).exit_code == 0


def test_a_log_that_cannot_be_written_at_its_end_is_still_unlocked(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.files.room = 0
        future = bench.submit(opening())
        bench.end()

        with pytest.raises(LedgerFailed):
            await future

    drive(story, tmp_path)
    Store.open(tmp_path, FaultyFiles(), ORIGIN, 5)[0].close()


def test_a_cancelled_wait_is_not_told_of_the_failure(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.files.room = 0
        gone, stays = bench.submit(opening("gone")), bench.submit(opening("stays"))
        gone.cancel()
        bench.turn()

        with pytest.raises(LedgerFailed):
            await stays
        assert gone.cancelled()

    drive(story, tmp_path).store.close()


def test_a_failed_log_is_tried_once_more_at_its_end(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.files.room = 0
        future = bench.submit(opening())
        bench.turn()
        bench.files.room = -1
        bench.end()

        with pytest.raises(LedgerFailed):
            await future

    drive(story, tmp_path)
    assert kinds_of(tmp_path)[2:] == ["log.recovered", "log.gap", "log.close"]


def test_a_checkpoint_is_written_a_second_after_the_last(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        future = bench.submit(opening())
        bench.turn(0.5)
        early = bench.store.signed
        bench.turn(0.5)

        assert (early, bench.store.signed) == (2, 3)
        assert (await future).n == 2
        bench.files.calls.clear()
        bench.inbox.close()
        bench.turn(5)
        assert bench.files.calls == []

    drive(story, tmp_path).end()


def test_a_failed_checkpoint_is_trouble_until_one_succeeds(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        future = bench.submit(opening())
        bench.turn()
        bench.files.fail("append_to")
        bench.turn(1)
        trouble = bench.writer.trouble
        bench.turn(1)

        assert "Input/output" in trouble
        assert bench.writer.trouble == ""
        assert (await future).n == 2

    drive(story, tmp_path).end()
    assert verify(tmp_path).exit_code == 0


def test_segments_end_at_their_size(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        for i in range(10):
            future = bench.submit(opening(f"r-{i}"))
            bench.turn()
            await future

    drive(story, tmp_path, segment_bytes=1000).end()

    assert len(segments(tmp_path)) > 3
    assert verify(tmp_path).exit_code == 0


def test_a_removed_segment_is_restored_and_put_on_record(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        segments(tmp_path)[0].unlink()
        future = bench.submit(opening())
        bench.turn()
        bench.turn()

        assert (await future).n == 2

    drive(story, tmp_path).end()

    assert kinds_of(tmp_path)[2:4] == ["llm.decision", "log.recovered"]
    assert records_of(tmp_path)[3]["why"] == "restored"
    assert verify(tmp_path).exit_code == 0


def test_open_decisions_are_ended_when_the_log_is(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        bench.submit(opening())
        bench.turn()

    drive(story, tmp_path).end()

    assert kinds_of(tmp_path)[2:] == ["llm.decision", "llm.abort", "log.close"]
    assert records_of(tmp_path)[3]["why"] == "closed"


def test_a_busy_writer_keeps_its_pace(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        futures = []
        for _ in range(12):
            futures.append(bench.submit(opening()))
            bench.turn(0)

        assert [(await future).n for future in futures] == [*range(2, 14)]

    drive(story, tmp_path, floor_s=0.0001).end()


def test_a_loop_that_ended_does_not_stop_the_writer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    async def submit() -> None:
        bench.submit(opening())

    asyncio.run(submit())
    bench.turn()
    bench.end()

    assert verify(tmp_path).exit_code == 0


def test_a_writer_that_breaks_leaves_nobody_waiting(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        def broken() -> None:
            raise ZeroDivisionError

        future = bench.submit(opening())
        bench.files.after = broken
        with pytest.raises(ZeroDivisionError):
            bench.writer.run()

        with pytest.raises(LedgerFailed):
            await future
        with pytest.raises(LedgerFailed):
            bench.submit(opening())

    drive(story, tmp_path)
