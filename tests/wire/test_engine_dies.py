"""An engine that dies, stalls or fails: never a clean end that was none, never an invented one."""

import json
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.fakes.answers import (
    Answer,
    Close,
    Reset,
    Stall,
    apart,
    cut,
    first_bytes,
    json_answer,
    stream,
)
from tests.fakes.engine import FakeEngine
from tests.fakes.events import DONE, chat_body, engine_error, finish, frame, role, says
from tests.fakes.scenarios import SCENARIOS
from tests.gates import hello, proxied

SHORT: Any = {"limits": {"stall_timeout": "200ms", "first_byte_timeout": "200ms"}}
BEGUN = (frame(role()), frame(says("Hello")))

AFTER_THE_FIRST_TOKEN: dict[str, tuple[Answer, str]] = {
    "reset": (stream(*apart(*BEGUN), end=(Reset(),)), "truncated"),
    "end without the terminal chunk": (stream(*apart(*BEGUN), end=(Close(),)), "truncated"),
    "half a frame": (
        stream(*apart(*BEGUN, frame(says(" there"))[:40]), end=(Close(),)),
        "truncated",
    ),
    "half a frame and a clean end": (
        stream(*apart(*BEGUN), frame(says(" there"))[:40]),
        "truncated",
    ),
    "stall": (stream(*BEGUN, Stall()), "stall"),
    "vLLM's error with its [DONE]": (
        stream(*apart(*BEGUN), frame(engine_error()), DONE),
        "engine_error",
    ),
    "llama.cpp's error without": (stream(*apart(*BEGUN), frame(engine_error())), "engine_error"),
    "no finish reason, no [DONE]": (stream(*BEGUN), "truncated"),
    "an event that is no JSON": (
        stream(*apart(*BEGUN), b"data: {not json}\n\n", DONE),
        "bad_stream",
    ),
    "one of two choices unfinished": (
        stream(*BEGUN, frame(says("B", index=1)), frame(finish())),
        "truncated",
    ),
}
BEFORE_THE_FIRST_TOKEN: dict[str, tuple[Answer, str]] = {
    "reset": ((Reset(),), "reset"),
    "close": ((Close(),), "reset"),
    "stall without a head": ((Stall(),), "stall"),
    "stall after the head": (stream(Stall()), "stall"),
    "stall after the role": (stream(frame(role()), Stall()), "stall"),
    "reset after the role": (stream(*apart(frame(role())), end=(Reset(),)), "truncated"),
    "an error in a 200": (stream(frame(engine_error()), DONE), "engine_error"),
    "an empty stream": (stream(), "truncated"),
    "JSON for a stream": (json_answer(chat_body()), "bad_stream"),
    "no HTTP": (SCENARIOS["not-http"](), "reset"),
    "503": (SCENARIOS["busy-503"](), "engine_busy"),
    "500": (SCENARIOS["text-500"](), "engine_error"),
    "our credential refused": (json_answer({"error": "no"}, status=401), "engine_auth"),
}
WHOLE: dict[str, tuple[Answer, str]] = {
    "reset": ((Reset(),), "reset"),
    "reset in the body": (first_bytes(json_answer(chat_body()), 160, Reset()), "truncated"),
    "a short body": (first_bytes(json_answer(chat_body()), 160, Close()), "truncated"),
    "half a head": (first_bytes(json_answer(chat_body()), 30, Close()), "reset"),
    "stall": ((Stall(),), "stall"),
    "no JSON": (json_answer(b"{not json}"), "bad_answer"),
    "an HTML page": (json_answer(b"<html>"), "bad_answer"),
    "500": (SCENARIOS["text-500"](), "engine_error"),
}


def parametrized(cases: dict[str, tuple[Answer, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("answer", "code"), cases.values(), ids=cases.keys())


def events(body: bytes) -> list[Any]:
    """The parsed events, each of which must be whole."""
    assert body.endswith(b"\n\n")
    return [json.loads(part.removeprefix(b"data: ")) for part in body.split(b"\n\n")[:-1]]


@parametrized(AFTER_THE_FIRST_TOKEN)
async def test_after_the_first_token_the_stream_ends_with_an_error_event(
    tmp_path: Path, fake_engine: FakeEngine, answer: Answer, code: str
) -> None:
    fake_engine.then(answer)
    async with proxied(tmp_path, fake_engine, **SHORT) as proxy:
        body = await proxy.stream(hello(stream=True))
        [told] = await proxy.settled()
    [closing] = proxy.closings
    *before, last = events(body)

    assert [event["choices"][0]["delta"].get("content") for event in before][:2] == ["", "Hello"]
    assert set(last) == {"error"}
    assert last["error"]["code"] == code
    assert last["error"]["type"] == "server_error"
    assert b"[DONE]" not in body
    assert b"EngineCore" not in body
    assert len(fake_engine.calls) == 1
    assert told.outcome == "engine_failed"
    assert told.attempts[0].error == code
    assert (closing["st"], closing["err"], closing["code"]) == ("aborted", code, 200)


@parametrized(BEFORE_THE_FIRST_TOKEN)
async def test_before_the_first_token_another_engine_answers(
    tmp_path: Path, fake_engine: FakeEngine, answer: Answer, code: str
) -> None:
    async with (
        FakeEngine() as other,
        proxied(tmp_path, fake_engine, other, **SHORT) as proxy,
    ):
        fake_engine.then(answer)
        body = await proxy.stream(hello(stream=True))
        [told] = await proxy.settled()
    [closing] = proxy.closings

    assert body.endswith(b"data: [DONE]\n\n")
    assert b"error" not in body
    assert [(attempt.engine, attempt.error) for attempt in told.attempts] == [
        ("a", code),
        ("b", ""),
    ]
    assert (closing["st"], closing["why"]) == ("complete", "ok")
    assert [attempt.get("err", "") for attempt in closing["route"]["att"]] == [code, ""]


@parametrized(BEFORE_THE_FIRST_TOKEN)
async def test_before_the_first_token_a_failure_of_the_only_engines_is_an_error_reply(
    tmp_path: Path, fake_engine: FakeEngine, answer: Answer, code: str
) -> None:
    fake_engine.then(answer, answer)
    async with proxied(tmp_path, fake_engine, **SHORT) as proxy:
        status, body = await proxy.ask(hello(stream=True))
    [closing] = proxy.closings

    assert status in (502, 503, 504)
    assert body["error"]["code"] == code
    assert (closing["st"], closing["code"]) == ("aborted", status)


@parametrized(WHOLE)
async def test_a_whole_answer_that_fails_comes_from_another_engine(
    tmp_path: Path, fake_engine: FakeEngine, answer: Answer, code: str
) -> None:
    async with (
        FakeEngine() as other,
        proxied(tmp_path, fake_engine, other, **SHORT) as proxy,
    ):
        fake_engine.then(answer)
        status, body = await proxy.ask(hello())
        [told] = await proxy.settled()

    assert (status, body) == (200, chat_body())
    assert [attempt.error for attempt in told.attempts] == [code, ""]


@parametrized(WHOLE)
async def test_a_whole_answer_that_fails_everywhere_is_an_error_reply(
    tmp_path: Path, fake_engine: FakeEngine, answer: Answer, code: str
) -> None:
    fake_engine.then(answer, answer)
    async with proxied(tmp_path, fake_engine, **SHORT) as proxy:
        status, body = await proxy.ask(hello())

    assert status in (502, 503, 504)
    assert body["error"]["code"] == code
    assert "srv" not in body["error"]["message"]


async def test_a_stream_without_done_but_with_its_finish_reason_is_whole(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    sent = (frame(role()), frame(says("Hello")), frame(finish()))
    fake_engine.then(stream(*sent))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))
    [closing] = proxy.closings

    assert body == b"".join(sent)
    assert (closing["st"], closing["out"]["fin"]) == ("complete", ["stop"])


async def test_a_stream_of_nothing_but_done_is_the_engines_own_clean_end(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(DONE))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))

    assert body == DONE


async def test_a_failure_in_the_same_read_as_the_first_token_is_still_before_the_first_byte(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    together = b"".join([*BEGUN, frame(engine_error())])
    fake_engine.then(stream(together, DONE))
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other) as proxy:
        body = await proxy.stream(hello(stream=True))

    assert b"error" not in body
    assert len(other.calls) == 1


async def test_what_follows_done_is_dropped_and_the_stream_is_whole(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*BEGUN, frame(finish()), DONE, frame(says("more"))))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))

    assert body.endswith(b"data: [DONE]\n\n")
    assert b"more" not in body


async def test_an_event_that_never_ends_is_given_up(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    endless = b"data: " + b"x" * (6 << 20)
    fake_engine.then(stream(*BEGUN, *cut(endless, 1 << 20)))
    async with proxied(tmp_path, fake_engine) as proxy:
        *_, last = events(await proxy.stream(hello(stream=True)))

    assert last["error"]["code"] == "bad_stream"


@pytest.mark.parametrize("case", ["reset", "stall", "vLLM's error with its [DONE]"])
async def test_the_official_client_raises_when_a_stream_breaks(
    tmp_path: Path, fake_engine: FakeEngine, case: str
) -> None:
    fake_engine.then(AFTER_THE_FIRST_TOKEN[case][0])
    said = ""
    async with (
        proxied(tmp_path, fake_engine, **SHORT) as proxy,
        openai.AsyncOpenAI(base_url=proxy.base_url, api_key="none", max_retries=0) as client,
    ):
        messages: Any = hello()["messages"]
        answer = await client.chat.completions.create(model="m", messages=messages, stream=True)
        with pytest.raises(openai.APIError) as caught:  # noqa: PT012 - raised by the iteration
            async for event in answer:
                said += event.choices[0].delta.content or ""

    assert said == "Hello"
    assert caught.value.code == AFTER_THE_FIRST_TOKEN[case][1]


async def test_the_engines_refusal_of_a_request_is_passed_on_and_not_tried_elsewhere(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other) as proxy:
        fake_engine.then(SCENARIOS["too-long"]())
        status, body = await proxy.ask(hello(stream=True))

    assert status == 400
    assert body["error"]["code"] == "engine_refused"
    assert "exceeds the available context size" in body["error"]["message"]
    assert other.calls == []


async def test_an_engine_that_asks_to_wait_is_passed_on_with_its_delay(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(SCENARIOS["busy-429"]())
    async with proxied(tmp_path, fake_engine) as proxy, proxy.post(hello()) as answer:
        assert answer.status == 429
        assert answer.headers["Retry-After"] == "7"
