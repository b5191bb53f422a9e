from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tidegate.audit import Closing, Ledger, Opening, Request
from tidegate.proxy.demo import proof as subject
from tidegate.proxy.demo.proof import proof
from tidegate.proxy.demo.report import Fact
from tidegate.proxy.demo.tour import EMAIL


@asynccontextmanager
async def ledger(directory: Path) -> AsyncIterator[Ledger]:
    log = Ledger.open(directory, origin="tests")
    try:
        yield log
    finally:
        await log.close()


async def decide(log: Ledger, request_id: str) -> Opening:
    opening = Opening(req=Request(id=request_id), act="allow")
    await log.append(opening)
    return opening


async def end(log: Ledger, opening: Opening) -> None:
    await log.append(Closing(ref=opening.id, code=200, st="complete"))


def failed(facts: list[Fact]) -> list[str]:
    return [fact.text for fact in facts if fact.holds is False]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "POLL_SECONDS", 0.0)


async def test_a_log_in_use_that_holds_both_records_of_each_request_is_proof(
    tmp_path: Path,
) -> None:
    async with ledger(tmp_path) as log:
        await end(log, await decide(log, "r-1"))
        await end(log, await decide(log, "r-2"))
        facts = await proof(tmp_path, ["r-1", "r-2"])

    assert failed(facts) == []
    assert len([fact for fact in facts if fact.holds]) == 3


async def test_a_request_without_an_ending_or_without_an_id_is_named(tmp_path: Path) -> None:
    async with ledger(tmp_path) as log:
        await decide(log, "r-1")
        facts = await proof(tmp_path, ["r-1", "", "r-3"])

    assert failed(facts) == ["without a decision and an ending: r-1, (no id), r-3"]


async def test_an_edited_log_does_not_verify(tmp_path: Path) -> None:
    async with ledger(tmp_path) as log:
        await end(log, await decide(log, "r-1"))
    (segment,) = (tmp_path / "wal").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b'"allow"', b'"block"', 1))
    facts = await proof(tmp_path, [])

    assert failed(facts) == ["the log does not verify (1)"]
    assert [fact for fact in facts if fact.text.startswith("edit: ")]


async def test_no_log_is_no_proof(tmp_path: Path) -> None:
    assert failed(await proof(tmp_path, [])) == ["the log does not verify (3)"]


async def test_text_of_the_tour_in_the_log_is_found(tmp_path: Path) -> None:
    async with ledger(tmp_path) as log:
        await end(log, await decide(log, "r-1"))
        (tmp_path / "leak").write_text(f"to {EMAIL}")
        facts = await proof(tmp_path, ["r-1"])

    assert failed(facts) == ["no text of the tour stands in the log"]
