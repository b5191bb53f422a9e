import pytest
from tests.proxy.exchanges import attempt, exchange, reading

from tidegate.policies import Action
from tidegate.proxy import exchange as module
from tidegate.proxy.errors import BadRequest, Refused
from tidegate.proxy.exchange import Exchange, timeline


def started() -> Exchange:
    x = exchange()
    x.attempts.append(attempt())
    return x


def test_moments_are_told_since_the_epoch() -> None:
    x = exchange()

    assert x.at(2_000_000) == 7_000_000
    assert x.at(0) == 0


def test_a_stream_is_what_the_client_asked_for() -> None:
    x = exchange()

    assert not x.streams
    x.reading = reading()
    assert not x.streams
    x.reading = reading(stream=True)
    assert x.streams


def test_the_latest_attempt_counts() -> None:
    x = started()
    x.attempts.append(second := attempt())

    assert x.attempt is second


def test_tokens_are_timed_from_one_to_the_next() -> None:
    x = started()
    x.tokens_came(2_000_000, 1)
    x.tokens_came(2_500_000, 1)
    x.tokens_came(4_500_000, 3)

    assert x.attempt.first_token_ns == 7_000_000
    assert x.attempt.last_token_ns == 9_500_000
    assert x.gaps.tolist() == [500_000, 2_000_000, 0, 0]


def test_tokens_of_the_first_read_came_together() -> None:
    x = started()
    x.tokens_came(2_000_000, 3)

    assert x.gaps.tolist() == [0, 0]


def test_kept_gaps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_GAPS", 4)
    x = started()
    for moment in range(1, 4):
        x.tokens_came(moment * 1_000_000, 3)

    assert x.gaps.tolist() == [0, 0, 1_000_000, 0]


@pytest.mark.parametrize(
    ("action", "outcome"), [(Action.ALLOW, "ok"), (Action.REDACT, "ok"), (Action.BLOCK, "blocked")]
)
def test_a_settled_exchange_went_as_it_should(action: Action, outcome: str) -> None:
    x = exchange()
    x.answer_action = action
    x.settle(200)

    assert (x.status, x.outcome, x.error) == (200, outcome, None)
    assert x.timeline.settled > 0


@pytest.mark.parametrize(("given", "status"), [(0, 400), (200, 200)])
def test_a_failed_exchange_keeps_the_status_the_client_has(given: int, status: int) -> None:
    x = exchange()
    x.failed(error := Refused("content_filter", "no"), given)

    assert (x.status, x.outcome, x.error) == (status, "refused", error)
    assert x.timeline.settled > 0


def test_an_error_may_have_its_own_status() -> None:
    x = exchange()
    x.failed(BadRequest("too_large", "m", status=413), 0)

    assert (x.status, x.outcome) == (413, "bad_request")


@pytest.mark.parametrize(
    ("given", "left", "told"),
    [
        (0, True, (499, "client_left")),
        (200, True, (200, "client_left")),
        (0, False, (500, "internal")),
        (200, False, (200, "internal")),
    ],
)
def test_a_broken_exchange_says_by_whom(given: int, *, left: bool, told: tuple[int, str]) -> None:
    x = exchange()
    x.broke(given, left=left)

    assert told == (x.status, x.outcome)
    assert x.timeline.settled > 0


def test_a_timeline_begins_now_and_knows_the_epoch() -> None:
    first, second = timeline(), timeline()

    assert 0 < first.received <= second.received
    assert first.received + first.epoch > 1_600_000_000 * 10**9
    assert (first.read, first.recorded, first.settled) == (0, 0, 0)
