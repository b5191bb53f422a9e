from dataclasses import replace

import pytest
import structlog
from tests.proxy.exchanges import exchange, policy, route

from tidegate.detectors import Finding, Segment, Source, Trust, scanner
from tidegate.policies import Action
from tidegate.proxy import screening as module
from tidegate.proxy.access import Principal
from tidegate.proxy.dialects.base import Channel
from tidegate.proxy.duty import Terms
from tidegate.proxy.errors import Refused
from tidegate.proxy.exchange import Exchange
from tidegate.proxy.routes import Route
from tidegate.proxy.screening import Screening

POLICY = policy(key="redact", ssn="redact", bomb="block", word="flag")


def screening() -> tuple[Exchange, Screening]:
    x = exchange()
    x.principal = Principal("joe", "tenant", ("*",))
    return x, Screening(x, route(POLICY))


def said(words: str, *where: str | int, source: Source = Source.ASSISTANT) -> Segment:
    return Segment(words, where or ("choices", 0), source, Trust.MODEL)


def test_a_clean_answer_stays() -> None:
    x, screen = screening()

    assert screen.whole([said("all is well"), said("世界")]) == ({}, False)
    assert (screen.run.verdict, x.answer_hits, x.answer_action) == ("pass", [], Action.ALLOW)
    assert x.runs == [screen.run]


def test_what_is_to_be_redacted_is_masked_in_its_place() -> None:
    x, screen = screening()
    answer = [said("a sk-abcdef b", "a"), said("clean", "b"), said("078-05-1120", "c")]

    assert screen.whole(answer) == ({("a",): "a [KEY] b", ("c",): "[SSN]"}, False)
    assert screen.run.verdict == "hit"
    assert x.answer_action is Action.REDACT
    assert [hit.rule for hit in x.answer_hits] == ["key-redact", "ssn-redact"]


def test_flagged_text_passes_and_is_noted() -> None:
    x, screen = screening()

    assert screen.whole([said("a word")]) == ({}, False)
    assert x.answer_action is Action.FLAG
    assert [Finding("test.word", 2, 6, 0.9, "word")] == [f for _, f in screen.run.found]


def test_a_blocked_text_ends_where_the_finding_begins() -> None:
    x, screen = screening()
    answer = [said("sk-abcdef bomb1234 word", "a"), said("bomb1234", "b"), said("x", "c")]

    assert screen.whole(answer) == ({("a",): "[KEY] ", ("b",): ""}, True)
    assert x.answer_action is Action.BLOCK


def test_no_text_of_the_answer_is_kept() -> None:
    x, screen = screening()
    screen.whole([said("sk-abcdef and word")])

    assert [segment.text for segment, _ in screen.run.found] == [""] * 2
    assert "sk-abcdef" not in repr(x)


def test_findings_no_rule_speaks_of_are_found_but_hit_nothing() -> None:
    x = exchange()
    screen = Screening(x, route(policy(key="redact", word="allow")))

    assert screen.whole([said("a word")]) == ({}, False)
    assert x.answer_hits == []


def test_a_low_score_is_no_hit() -> None:
    x, screen = screening()
    hold = screen.holdback(Channel(0, "content"))
    verdict = screen._judge(said("x"), Finding("test.sense", 0, 1, 0.1, "s"), 0)

    assert Action.ALLOW is verdict.action
    assert hold.held == ""
    assert (len(screen.run.found), x.answer_hits) == (1, [])


def test_kept_findings_are_bounded_but_all_are_acted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FOUND", 2)
    x, screen = screening()
    texts, _ = screen.whole([said("sk-abcdef " * 5)])

    assert list(texts.values()) == ["[KEY] " * 5]
    assert (len(screen.run.found), len(x.answer_hits)) == (2, 2)


def test_a_streams_channels_are_held_by_the_policy() -> None:
    x, screen = screening()
    hold = screen.holdback(Channel(1, "tool", 2))
    released = hold.push("x sk-abcdef word ")

    assert [edit.text for edit in released.edits] == ["[KEY]"]
    assert [(s.where, f.start, f.end) for s, f in screen.run.found] == [
        (("choices", 1, "tool", 2), 2, 11)
    ]
    assert x.answer_action is Action.REDACT


def test_what_is_only_flagged_is_followed_not_held() -> None:
    x, screen = screening()
    follower = screen.follower(Channel(0, "content"))

    assert follower is not None
    assert follower.push("a word ").edits == []
    assert x.answer_action is Action.FLAG


def test_without_flags_nothing_is_followed() -> None:
    screen = Screening(exchange(), route(policy(key="redact")))

    assert screen.follower(Channel(0, "content")) is None


def test_places_of_a_stream_count_from_its_start() -> None:
    _, screen = screening()
    hold = screen.holdback(Channel(0, "content"))
    hold.push("hello " * 100)
    hold.push("sk-abcdef ")

    assert [(f.start, f.end) for _, f in screen.run.found] == [(600, 609)]


def test_masks_in_tool_arguments_are_json() -> None:
    _, screen = screening()
    texts, _ = screen.whole([said('{"a":"sk-abcdef"}', "t", source=Source.TOOL_CALL)])

    assert texts == {("t",): '{"a":"[KEY]"}'}


def test_what_a_check_refuses_is_nothing() -> None:
    screen = Screening(exchange(), route(policy(sense="redact")))

    assert screen.whole([said("sense0", "a"), said("sense1", "b")]) == ({("b",): "[SENSE]"}, False)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with more than two matches cannot be searched."""
    monkeypatch.setattr(scanner, "MOST_CANDIDATES", 2)


@pytest.mark.usefixtures("few")
def test_an_answer_that_cannot_be_searched_is_refused() -> None:
    x, screen = screening()
    with structlog.testing.capture_logs() as logs, pytest.raises(Refused) as caught:
        screen.whole([said("sk-abcdef " * 3)])

    assert (caught.value.code, caught.value.status) == ("answer_uninspectable", 500)
    assert [(log["event"], log["error"]) for log in logs] == [("detector.failed", "Overloaded")]
    assert (x.runs, screen.run.verdict) == ([screen.run], "error")


@pytest.mark.usefixtures("few")
def test_unread_text_passes_where_the_policy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POLICY, "on_error", Action.ALLOW)
    _, screen = screening()
    answer = [said("sk-abcdef " * 3, "a"), said("sk-abcdef", "b")]

    assert screen.whole(answer) == ({("b",): "[KEY]"}, False)
    assert screen.run.verdict == "error"


@pytest.mark.parametrize(
    ("act", "told"), [(Action.FLAG, Action.FLAG), (Action.ALLOW, Action.ALLOW)]
)
@pytest.mark.usefixtures("few")
def test_the_configuration_may_say_what_happens_to_unread_text(act: Action, told: Action) -> None:
    x = exchange()
    screen = Screening(x, strict(Terms(on_error=act)))

    assert screen.whole([said("sk-abcdef " * 3, "a")]) == ({}, False)
    assert (x.answer_action, screen.run.on_error) == (told, act)


def test_an_answer_is_not_read_for_longer_than_its_detectors_may_take() -> None:
    x = exchange()
    flagging = Screening(x, strict(Terms(0, Action.FLAG)))
    with structlog.testing.capture_logs() as logs:
        passed = flagging.whole([said("sk-abcdef", "a"), said("sk-abcdef", "b")])
    with pytest.raises(Refused) as caught:
        Screening(x, strict(Terms(0))).whole([said("clean")])

    assert passed == ({}, False)
    assert (x.answer_action, flagging.run.verdict) == (Action.FLAG, "timeout")
    assert [log["event"] for log in logs] == ["detector.timeout"]
    assert caught.value.code == "answer_uninspectable"


def strict(terms: Terms) -> Route:
    """A route that blocks what was not read, unless the terms say otherwise."""
    judged = route(POLICY)
    return replace(judged, output=replace(judged.output, terms=terms))
