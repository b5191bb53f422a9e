import asyncio
import threading
from collections.abc import Iterator

import pytest
from tests.audit.logs import SetClock, closing, opening

from tidegate.audit import Closing, Find, LedgerBusy, LedgerFailed, Limits, Record
from tidegate.audit.inbox import Entry, Inbox, Receipt
from tidegate.audit.record import weight


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def future(loop: asyncio.AbstractEventLoop) -> asyncio.Future[Receipt]:
    return loop.create_future()


def new_inbox(**limits: int) -> Inbox:
    return Inbox(SetClock(), Limits(**limits))


def test_records_wait_in_order_of_arrival_with_their_time(
    future: asyncio.Future[Receipt],
) -> None:
    clock = SetClock()
    inbox = Inbox(clock, Limits())
    records: list[Record] = [opening(), closing("r")]
    for record in records:
        inbox.put(record, future)
        clock.advance(1)
    inbox.own({"k": "log.open"})
    entries = inbox.take()

    assert [*records, {"k": "log.open"}] == [entry.record for entry in entries]
    assert [future, future, None] == [entry.future for entry in entries]
    assert [e.t2 - SetClock().now_us for e in entries] == [0, 1_000_000, 2_000_000]
    assert inbox.take() == []


@pytest.mark.parametrize("limits", [{"records": 2}, {"bytes": weight(opening()) + 1}])
def test_too_much_is_refused_until_there_is_room(
    future: asyncio.Future[Receipt], limits: dict[str, int]
) -> None:
    inbox = new_inbox(**limits)
    inbox.put(opening(), future)
    inbox.put(opening(), future)
    taken = inbox.take()
    with pytest.raises(LedgerBusy, match="2 records"):
        inbox.put(opening(), future)
    inbox.done(taken)
    inbox.put(opening(), future)

    assert len(inbox.take()) == 1


def test_a_record_with_many_findings_takes_more_room(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox(bytes=64 << 10)
    large = opening()
    large.find = [Find(det="pii", verdict="hit", spans=[(0, 1)] * 16)] * 48
    inbox.put(large, future)

    with pytest.raises(LedgerBusy):
        inbox.put(opening(), future)


def test_a_completion_finds_room_where_a_decision_does_not(
    future: asyncio.Future[Receipt],
) -> None:
    inbox = new_inbox(records=1)
    inbox.put(opening(), future)
    inbox.put(closing("r"), future)

    with pytest.raises(LedgerBusy):
        inbox.put(closing("r"), future)


def test_the_log_itself_is_never_refused() -> None:
    inbox = new_inbox(records=0)
    inbox.own({"k": "log.open"})

    assert len(inbox.take()) == 1


def test_waiting_ends_at_once_if_there_is_something() -> None:
    inbox = new_inbox()
    inbox.own({"k": "log.open"})
    inbox.wait(None)
    inbox.take()
    inbox.wait(0)
    inbox.close()
    inbox.wait(None)

    assert inbox.closing


def test_waiting_ends_when_something_comes(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    taken: list[Entry] = []

    def work() -> None:
        while len(taken) < 2000:
            inbox.wait(10)
            taken.extend(inbox.take())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    refs = [f"r-{i}" for i in range(2000)]
    for ref in refs:
        inbox.put(closing(ref), future)
    thread.join(30)

    assert refs == [entry.record.ref for entry in taken if isinstance(entry.record, Closing)]


def test_failing_refuses_what_waits_and_what_comes(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.put(closing("r-1"), future)
    inbox.own({"k": "log.recovered"})
    taken = inbox.take()
    inbox.put(closing("r-2"), future)
    told = inbox.fail(taken, "the disk is full")
    with pytest.raises(LedgerFailed, match="the disk is full"):
        inbox.put(closing("r-3"), future)
    with pytest.raises(LedgerFailed):
        inbox.put(opening(), future)
    missed = inbox.forget_missed()

    assert len(told) == 2
    assert (missed.count, list(missed.refs)) == (4, ["r-1", "r-2", "r-3"])
    assert missed.since == missed.until == SetClock().now_us


def test_failing_with_nobody_waiting_misses_nothing() -> None:
    inbox = new_inbox()
    inbox.own({"k": "log.recovered"})

    assert inbox.fail([], "why") == []
    assert inbox.forget_missed().count == 0


def test_what_could_not_be_put_on_record_is_remembered(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.fail([], "why")
    for ref in ("a", "b"):
        with pytest.raises(LedgerFailed):
            inbox.put(closing(ref), future)
        inbox.remember_missed(inbox.forget_missed())
    missed = inbox.forget_missed()

    assert (missed.count, list(missed.refs)) == (2, ["a", "b"])


def test_what_is_remembered_is_bounded(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox(records=3)
    inbox.fail([], "why")
    for i in range(10):
        with pytest.raises(LedgerFailed):
            inbox.put(closing(f"r-{i}"), future)
    missed = inbox.forget_missed()

    assert (missed.count, len(missed.refs)) == (10, 3)


def test_a_recovered_inbox_takes_records(
    future: asyncio.Future[Receipt],
) -> None:
    inbox = new_inbox()
    inbox.put(opening(), future)
    inbox.fail(inbox.take(), "why")
    inbox.recovered()
    inbox.put(opening(), future)

    assert len(inbox.take()) == 1


def test_closing_ends_the_waiting() -> None:
    inbox = new_inbox()
    thread = threading.Thread(target=inbox.wait, args=(10,), daemon=True)
    thread.start()
    while not inbox._idle:
        pass
    inbox.close()
    thread.join(5)

    assert not thread.is_alive()


def test_a_closed_inbox_takes_nothing(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.close()

    with pytest.raises(LedgerFailed, match="closed"):
        inbox.put(opening(), future)
