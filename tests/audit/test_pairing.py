import pytest

from tidegate.audit import pairing
from tidegate.audit.pairing import Pairing
from tidegate.audit.record import Head
from tidegate.audit.report import Fault, Log, Report


def story(*records: str) -> tuple[Log, Report]:
    """Follow records written as `kind`, `kind:id` or `kind>ref`."""
    log, report = Log("x"), Report()
    pairs = Pairing(log, report)
    for n, text in enumerate(records):
        kind, _, ref = text.partition(">")
        kind, _, name = kind.partition(":")
        pairs.follow(Head(n=n, log="x", k=kind, id=name, ref=ref))
    pairs.finish()
    return log, report


def found(report: Report) -> list[tuple[Fault, str]]:
    return [(finding.fault, finding.place) for finding in report.findings]


def test_every_decision_ends_once() -> None:
    log, report = story(
        "log.open", "llm.decision:a", "llm.decision:b", "llm.abort>b", "llm.completion>a"
    )

    assert found(report) == []
    assert (log.decisions, log.completions, log.aborts, log.in_flight) == (2, 1, 1, 0)


def test_decisions_of_the_present_run_are_in_flight() -> None:
    log, report = story("log.open", "llm.decision:a", "admin.reload")

    assert (log.in_flight, found(report)) == (1, [])


def test_decisions_of_an_earlier_run_are_unpaired() -> None:
    _, report = story("log.open", "llm.decision:a", "log.open")

    assert found(report) == [(Fault.UNPAIRED, "record 1")]


def test_decisions_of_a_closed_run_are_unpaired() -> None:
    _, report = story("log.open", "llm.decision:a", "log.close")

    assert found(report) == [(Fault.UNPAIRED, "record 1")]


def test_an_ending_without_beginning_is_unpaired() -> None:
    _, report = story("log.open", "llm.completion>a")

    assert found(report) == [(Fault.UNPAIRED, "record 1")]


def test_an_id_that_is_in_use_is_unpaired() -> None:
    _, report = story("log.open", "llm.decision:a", "llm.decision:a", "llm.completion>a")

    assert found(report) == [(Fault.UNPAIRED, "record 2")]


def test_nothing_follows_the_end_but_a_new_beginning() -> None:
    _, good = story("log.open", "log.close", "log.recovered", "log.open")
    _, bad = story("log.open", "log.close", "llm.abort>a")

    assert found(good) == []
    assert (Fault.INSERT, "record 2") in found(bad)


def test_memory_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MAX_OPEN", 2)
    _, report = story(
        "log.open", "llm.decision:a", "llm.decision:b", "llm.decision:c", "llm.completion>c"
    )

    assert found(report) == [(Fault.UNPAIRED, "log")]
