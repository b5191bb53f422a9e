import pytest
from tests.proxy.stream.screens import (
    DONE,
    Channels,
    chunks,
    ends,
    event,
    run,
    says,
    screen,
    texts,
)

from tidegate.detectors import scanner
from tidegate.proxy.dialects.base import Channel, Usage
from tidegate.proxy.dialects.openai import OpenAI
from tidegate.proxy.errors import Refused
from tidegate.proxy.stream import screen as module
from tidegate.proxy.stream.screen import StreamScreen

ROLE = event({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None})
USAGE = event(usage={"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12})
BLOCKED = {"index": 0, "finish_reason": "content_filter", "delta": {}}


def test_unchanged_events_pass_byte_for_byte() -> None:
    stream = [ROLE, b": ping\n\n", says("Hello "), b"data:  " + says("world")[6:], ends()]
    filter_ = screen()

    assert b"".join(stream) == b"".join(filter_.feed(e) for e in stream)
    assert filter_.feed(DONE) == b""
    assert filter_.last == DONE
    assert filter_.finish() == b""
    assert filter_.failure is None
    assert filter_.over
    assert filter_.text_events == 2
    assert filter_.text_length == 11
    assert filter_.finish_reasons == ["stop"]


def test_an_event_that_says_nothing_is_not_passed_on() -> None:
    filter_ = screen()
    out = [filter_.feed(piece) for piece in (b"data: null\n\n", says("Hello "))]

    assert out == [b"", says("Hello ")]


def test_a_secret_cut_across_events_is_masked_in_the_first_it_touches() -> None:
    out = run(screen(), [says("key sk-ab"), says("cd"), says("ef "), says("end"), ends(), DONE])

    assert texts(out) == {(0, "content", 0): "key [key] end"}
    assert (
        [
            c["choices"][0]["delta"]["content"]  # type: ignore[index]  # as this test made them
            for c in chunks(out)[:4]
        ]
        == ["key [key]", "", " ", "end"]
    )
    assert out.endswith(ends() + DONE)


def test_an_event_waits_for_its_text_and_later_events_behind_it() -> None:
    filter_ = screen()

    assert filter_.feed(says("sk-a")) == b""
    assert filter_.feed(b": ping\n\n") == b""
    assert filter_.held_max == filter_.held_total // 2 == 4
    assert says("sk-a") + b": ping\n\n" + says("!") == filter_.feed(says("!"))


def test_a_secret_ends_with_its_choice() -> None:
    filter_ = screen()
    out = filter_.feed(says("sk-abcdef", 1)) + filter_.feed(ends(1))

    assert texts(out) == {(1, "content", 0): "[key]"}


def test_channels_do_not_mix() -> None:
    call = event(
        {"index": 0, "delta": {"tool_calls": [{"index": 1, "function": {"arguments": "cdef "}}]}}
    )
    stream = [says("sk-ab"), says("cdef ", 1), call, says("x."), ends(), ends(1), DONE]

    assert b"".join(stream) == run(screen(), stream)


def test_usage_is_read_and_dropped_unless_asked_for() -> None:
    stream = [says("a"), ends(), USAGE, DONE]
    silent, asked = screen(), screen(usage=True)

    assert says("a") + ends() + DONE == run(silent, stream)
    assert b"".join(stream) == run(asked, stream)
    assert Usage(5, 7) == silent.usage
    assert Usage(5, 7) == asked.usage


def test_a_null_usage_is_dropped_unless_asked_for() -> None:
    with_null = event({"index": 0, "delta": {"content": "a"}}, usage=None)

    assert event({"index": 0, "delta": {"content": "a"}}) == screen().feed(with_null)
    assert with_null == screen(usage=True).feed(with_null)


def test_the_model_gets_the_name_the_client_used() -> None:
    out = run(screen(names=("m", "alias")), [says("bomb1234 "), DONE])

    assert {"alias"} == {c["model"] for c in chunks(out)}


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_stream_without_its_end_marker_is_whole_if_it_finished(reason: str) -> None:
    filter_ = screen()
    out = run(filter_, [says("a"), ends(0, reason)])

    assert says("a") + ends(0, reason) == out
    assert filter_.failure is None
    assert filter_.last == b""


@pytest.mark.parametrize(
    "stream",
    [
        [],
        [ROLE],
        [says("a")],
        [says("a"), says("b", 1), ends()],
        [says("a"), ends(), b"data: {"],
    ],
)
def test_a_stream_that_breaks_off_is_a_failure(stream: list[bytes]) -> None:
    filter_ = screen()
    run(filter_, stream)

    assert filter_.failure is not None
    assert filter_.failure.code == "truncated"


def test_what_was_held_goes_out_when_the_stream_breaks_off() -> None:
    filter_ = screen()

    assert filter_.feed(says("sk-abc")) == b""
    assert says("sk-abc") == filter_.finish()


def test_what_was_held_goes_out_when_the_engine_is_gone() -> None:
    filter_ = screen()
    filter_.feed(says("a sk-abcdef"))

    assert texts(filter_.abort()) == {(0, "content", 0): "a [key]"}


def test_an_engines_error_is_a_failure_without_its_words() -> None:
    filter_ = screen()
    error = b'data: {"error":{"message":"PROMPT","code":"PROMPT 1"}}\n\n'

    assert says("sk-a") == filter_.feed(says("sk-a") + error + says("later"))
    assert filter_.failure is not None
    assert filter_.failure.code == "engine_error"
    assert "PROMPT" not in filter_.failure.message
    assert filter_.finish() == b""


def test_an_event_that_cannot_be_read_is_a_failure() -> None:
    filter_ = screen()

    assert says("a") == filter_.feed(says("a") + b"data: {oops\n\n")
    assert filter_.failure is not None
    assert filter_.failure.code == "bad_stream"


def test_an_event_that_cannot_be_edited_is_a_failure_and_stays_back() -> None:
    filter_ = screen()
    bad = says("sk-abcdef ").replace(b'"c-1"', b'"\xff"')

    assert says("a ") == filter_.feed(says("a ") + bad + says("b"))
    assert filter_.failure is not None
    assert filter_.failure.code == "bad_stream"


def test_a_block_lets_out_what_came_before_and_ends_the_stream_in_dialect() -> None:
    filter_ = screen()
    out = filter_.feed(says("well, bom"))
    out += filter_.feed(says("b1234 and") + says("more"))

    assert texts(out) == {(0, "content", 0): "well, "}
    assert filter_.blocked
    assert filter_.over
    assert filter_.finish() == b""
    assert filter_.last.endswith(DONE)
    assert [c["choices"] for c in chunks(filter_.last)] == [[BLOCKED]]
    assert filter_.finish_reasons == ["content_filter"]


def test_a_block_at_the_end_marker_ends_the_stream_once() -> None:
    out = run(screen(), [says("bomb1234") + DONE])

    assert out.count(DONE) == 1
    assert [c["choices"] for c in chunks(out)[1:]] == [[BLOCKED]]


def test_a_block_tells_usage_if_asked() -> None:
    unknown, known = screen(usage=True), screen(usage=True)
    run(unknown, [says("bomb1234 ")])
    run(known, [USAGE, says("bomb1234 ")])

    assert chunks(unknown.last)[-1]["usage"] == {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
    }
    assert chunks(known.last)[-1]["usage"] == {
        "prompt_tokens": 5,
        "completion_tokens": 7,
        "total_tokens": 12,
    }


def test_a_block_in_one_choice_stops_no_less_in_another() -> None:
    filter_ = screen()
    out = filter_.feed(says("b bomb1234", 1) + says("a bomb5678 ") + says("x", 2))

    assert texts(out) == {(1, "content", 0): "b "}
    assert filter_.last.count(b"content_filter") == 3


def test_a_block_that_only_the_end_reveals_still_counts() -> None:
    filter_ = screen()
    filter_.feed(says("bomb1234"))

    assert texts(filter_.finish()) == {}
    assert filter_.blocked


def test_followers_see_everything_and_delay_nothing() -> None:
    channels = Channels(follow=True)
    filter_ = StreamScreen(OpenAI(), channels, wants_usage=False)
    stream = [says("wo"), says("rd "), *[says("work ")] * 40]

    assert b"".join(stream) == b"".join(filter_.feed(e) for e in stream)
    assert len(channels.seen) == 31
    filter_.feed(ends())
    assert [(Channel(0, "content"), n * 5) for n in range(41)] == channels.seen


def test_the_number_of_channels_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHANNELS", 2)
    filter_ = screen()
    run(filter_, [says("a"), says("b", 1), says("c", 2)])

    assert filter_.failure is not None
    assert filter_.failure.code == "bad_stream"


def test_the_number_of_finish_reasons_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHANNELS", 2)
    filter_ = screen()
    run(filter_, [ends()] * 5)

    assert filter_.finish_reasons == ["stop", "stop"]


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_QUEUED", 1000)
    filter_ = screen()
    run(filter_, [says("sk-a"), *[b": ping\n\n"] * 200])

    assert filter_.failure is not None
    assert filter_.failure.code == "bad_stream"


def test_what_has_gone_out_does_not_count_as_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_QUEUED", 1000)
    filter_ = screen()
    out = run(filter_, [*[says("ok sk-a")] * 50, says("!"), ends(), DONE])

    assert filter_.failure is None
    assert texts(out) == {(0, "content", 0): "ok sk-a" * 50 + "!"}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with more than two matches cannot be searched."""
    monkeypatch.setattr(scanner, "MOST_CANDIDATES", 2)


def watched(*, follow: bool = False, lax: bool = False) -> tuple[Channels, StreamScreen]:
    channels = Channels(follow=follow, lax=lax)
    return channels, StreamScreen(OpenAI(), channels, wants_usage=False)


KEYS = "sk-abcdef " * 3


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("behind", [b"", ends(), DONE])
def test_a_text_that_cannot_be_searched_ends_the_stream_and_none_of_it_goes_out(
    behind: bytes,
) -> None:
    channels, filter_ = watched()
    before = filter_.feed(says("well "))
    after = filter_.feed(says(KEYS) + behind)

    assert (before, after, filter_.finish()) == (says("well "), b"", b"")
    assert channels.failed == ["Overloaded"]
    assert isinstance(filter_.failure, Refused)
    assert filter_.over
    assert filter_.text_length == 5 + len(KEYS)


@pytest.mark.usefixtures("few")
def test_what_was_held_and_cannot_be_searched_at_the_end_does_not_go_out() -> None:
    _, filter_ = watched()
    filter_.feed(says("sk-abc"))
    filter_._tracks[Channel(0, "content")].hold._text = KEYS

    assert filter_.abort() == b""
    assert isinstance(filter_.failure, Refused)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("behind", [b"", ends() + DONE])
def test_where_the_policy_lets_unread_text_pass_the_rest_goes_out_as_it_came(
    behind: bytes,
) -> None:
    channels, filter_ = watched(lax=True)
    out = filter_.feed(says(KEYS) + behind) + filter_.feed(says("sk-abcdef ", 1))

    assert out.startswith(says(KEYS))
    assert channels.failed == ["Overloaded"]
    assert filter_.failure is None
    if not behind:
        assert filter_.feed(says(KEYS)) == says(KEYS)
        assert texts(out)[1, "content", 0] == "[key] "


@pytest.mark.usefixtures("few")
def test_held_text_passes_at_the_end_where_the_policy_says_so() -> None:
    channels, filter_ = watched(lax=True)
    filter_.feed(says("sk-abc"))
    filter_._tracks[Channel(0, "content")].hold._text = KEYS

    assert filter_.abort() == says("sk-abc")
    assert channels.failed == ["Overloaded"]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("lax", [True, False])
def test_a_follower_that_fails_is_dropped_or_ends_the_stream(*, lax: bool) -> None:
    channels, filter_ = watched(follow=True, lax=lax)
    told = says("word " * 3)
    out = filter_.feed(told) + filter_.feed(ends())

    assert channels.failed == ["Overloaded"]
    assert out == (told + ends() if lax else told)
    assert (filter_.failure is None) is lax
