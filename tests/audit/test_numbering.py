import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from tests.audit.logs import closing, opening

from tidegate.audit import Record, RecordError
from tidegate.audit.frame import record_of, unframed
from tidegate.audit.inbox import Entry, Receipt
from tidegate.audit.numbering import Numbering

FAULTY = {"k": "x", "f": 1.5}


@pytest.fixture
def future() -> Iterator[asyncio.Future[Receipt]]:
    loop = asyncio.new_event_loop()
    yield loop.create_future()
    loop.close()


def new_numbering(most: int = 10) -> Numbering:
    return Numbering("0123456789ab", most)


def entries_of(future: asyncio.Future[Receipt] | None, *records: Record) -> list[Entry]:
    return [Entry(record, future, 1_800_000_000_000_000 + i) for i, record in enumerate(records)]


def fields_of(entries: list[Entry]) -> list[dict[str, Any]]:
    for entry in entries:
        assert unframed(entry.line) == entry.leaf
    return [orjson.loads(record_of(entry.line)) for entry in entries]


def numbers(entries: list[Entry]) -> list[int]:
    assert [entry.n for entry in entries] == [fields["n"] for fields in fields_of(entries)]
    return [entry.n for entry in entries]


def test_records_are_numbered_in_their_order(future: asyncio.Future[Receipt]) -> None:
    entries = entries_of(future, opening(), closing("r"), {"k": "llm.abort", "ref": "x"})
    ready, faulty = new_numbering().number(entries, 5)

    assert numbers(ready) == [5, 6, 7]
    assert [entry.t2 for entry in entries] == [fields["t2"] for fields in fields_of(ready)]
    assert faulty == []


def test_a_faulty_record_takes_no_number(future: asyncio.Future[Receipt]) -> None:
    entries = entries_of(future, opening(), FAULTY, opening())
    ready, faulty = new_numbering().number(entries, 5)

    assert numbers(ready) == [5, 6]
    assert [entries[1]] == [entry for entry, _ in faulty]


def test_entries_may_be_numbered_again(future: asyncio.Future[Receipt]) -> None:
    numbering = new_numbering()
    ready, _ = numbering.number(entries_of(future, opening("a"), opening("b")), 9)
    before = fields_of(ready)
    again, _ = numbering.number([*entries_of(None, {"k": "log.recovered"}), *ready], 9)

    assert numbers(again) == [9, 10, 11]
    assert fields_of(again)[1:] == [fields | {"n": fields["n"] + 1} for fields in before]


def test_a_faulty_record_of_the_log_itself_is_an_error() -> None:
    with pytest.raises(RecordError):
        new_numbering().number(entries_of(None, FAULTY), 5)


def test_the_completion_of_a_faulty_decision_is_refused(future: asyncio.Future[Receipt]) -> None:
    asked: Any = opening()
    asked.act = None
    numbering = new_numbering()
    records = (asked, closing(asked.id), closing("another"), opening())
    ready, faulty = numbering.number(entries_of(future, *records), 5)
    later, _ = numbering.number(entries_of(future, closing(asked.id)), 7)

    assert numbers(ready) == [5, 6]
    assert [records[0], records[1]] == [entry.record for entry, _ in faulty]
    assert "decision" in str(faulty[1][1])
    assert len(later) == 1


def test_what_is_remembered_is_bounded(future: asyncio.Future[Receipt]) -> None:
    numbering = new_numbering(2)
    asked = [opening() for _ in range(3)]
    records: list[Record] = [*asked, closing("r"), {"k": "admin.reload"}]
    for record in records:
        numbering.disown(record)
    _, faulty = numbering.number(entries_of(future, *(closing(a.id) for a in asked)), 5)

    assert len(faulty) == 2
