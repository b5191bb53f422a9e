import asyncio
import threading
from collections.abc import Iterator

import orjson
import pytest
from tests.audit.logs import SetClock, closing, opening

from tidegate.audit import LedgerBusy, LedgerFailed, Limits, RecordError
from tidegate.audit.frame import record_of, unframed
from tidegate.audit.inbox import Entry, Inbox, Receipt


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def future(loop: asyncio.AbstractEventLoop) -> asyncio.Future[Receipt]:
    return loop.create_future()


def new_inbox(**limits: int) -> Inbox:
    return Inbox("0123456789ab", 5, SetClock(), Limits(**limits))


def numbers(entries: list[Entry]) -> list[int]:
    for entry in entries:
        assert unframed(entry.line) == entry.leaf
        assert orjson.loads(record_of(entry.line))["n"] == entry.n
    return [entry.n for entry in entries]


def test_records_are_numbered_in_order_of_arrival(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    asked = opening()
    inbox.put(asked, future)
    inbox.put(closing(asked.id), future)
    inbox.own({"k": "llm.abort", "ref": "x"})
    entries = inbox.take()

    assert numbers(entries) == [5, 6, 7]
    assert [(e.opens, e.closes) for e in entries] == [(asked.id, ""), ("", asked.id), ("", "x")]
    assert inbox.take() == []


def test_a_faulty_record_takes_no_number(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    with pytest.raises(RecordError):
        inbox.put({"k": "x", "f": 1.5}, future)
    inbox.put(opening(), future)

    assert numbers(inbox.take()) == [5]


@pytest.mark.parametrize("limits", [{"records": 2}, {"bytes": 400}])
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

    assert numbers(inbox.take()) == [7]


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

    assert numbers(inbox.take()) == [5]


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
    for _ in range(2000):
        inbox.put(opening(), future)
    thread.join(30)

    assert [*range(5, 2005)] == numbers(taken)


def test_restarting_numbers_everything_anew(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.put(opening("a"), future)
    taken = inbox.take()
    inbox.put(opening("b"), future)
    renewed = inbox.restart(3, [{"k": "log.recovered"}], taken)
    inbox.done(renewed)
    inbox.put(opening("c"), future)

    assert numbers(renewed) == [3, 4, 5]
    assert numbers(inbox.take()) == [6]
    assert [orjson.loads(record_of(e.line))["k"] for e in renewed] == [
        "log.recovered",
        "llm.decision",
        "llm.decision",
    ]


def test_failing_refuses_what_waits_and_what_comes(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.put(closing("r-1"), future)
    inbox.own({"k": "log.recovered"})
    taken = inbox.take()
    inbox.put(closing("r-2"), future)
    told = inbox.fail(5, taken, "the disk is full")
    with pytest.raises(LedgerFailed, match="the disk is full"):
        inbox.put(closing("r-3"), future)
    with pytest.raises(LedgerFailed):
        inbox.put(opening(), future)
    missed = inbox.forget_missed()

    assert [entry.closes for entry in told] == ["r-1", "r-2"]
    assert (missed.count, list(missed.refs)) == (4, ["r-1", "r-2", "r-3"])
    assert missed.since == missed.until == SetClock().now_us


def test_failing_with_nobody_waiting_misses_nothing() -> None:
    inbox = new_inbox()
    inbox.own({"k": "log.recovered"})

    assert inbox.fail(5, [], "why") == []
    assert inbox.forget_missed().count == 0


def test_what_could_not_be_put_on_record_is_remembered(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.fail(5, [], "why")
    for ref in ("a", "b"):
        with pytest.raises(LedgerFailed):
            inbox.put(closing(ref), future)
        inbox.remember_missed(inbox.forget_missed())
    missed = inbox.forget_missed()

    assert (missed.count, list(missed.refs)) == (2, ["a", "b"])


def test_what_is_remembered_is_bounded(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox(records=3)
    inbox.fail(5, [], "why")
    for i in range(10):
        with pytest.raises(LedgerFailed):
            inbox.put(closing(f"r-{i}"), future)
    missed = inbox.forget_missed()

    assert (missed.count, len(missed.refs)) == (10, 3)


def test_a_recovered_inbox_takes_records_from_where_it_is(
    future: asyncio.Future[Receipt],
) -> None:
    inbox = new_inbox()
    inbox.put(opening(), future)
    inbox.fail(5, inbox.take(), "why")
    inbox.recovered()
    inbox.put(opening(), future)

    assert numbers(inbox.take()) == [5]


def test_a_closed_inbox_takes_nothing(future: asyncio.Future[Receipt]) -> None:
    inbox = new_inbox()
    inbox.close()

    with pytest.raises(LedgerFailed, match="closed"):
        inbox.put(opening(), future)
