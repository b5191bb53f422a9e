"""Streams: what nobody changes arrives byte for byte; what a policy changes leaves no trace."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.answers import Answer, Pause, Stall, apart, cut, json_answer, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import (
    DONE,
    calls,
    chat_body,
    finish,
    frame,
    role,
    says,
    talk,
    thinks,
    usage,
)
from tests.fakes.scenarios import SCENARIOS
from tests.gates import hello, proxied

USAGE = {"stream_options": {"include_usage": True}}
KEY = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5q" * 2 + "T3BlbkFJ" + "Ab3dEf6hIj9kLm2nOp5q" * 2
CARD = "4111 1111 1111 1111"

UNCHANGED = [
    "two-events-in-a-chunk",
    "all-in-one-chunk",
    "event-in-ten-chunks",
    "byte-by-byte",
    "split-utf8",
    "crlf",
    "no-blank-after-data",
    "comments",
    "no-done",
    "usage-in-last-chunk",
    "two-choices",
    "tool-call",
    "reasoning",
    "paced",
    "until-close",
]
BLOCKING = """\
version: 1
name: blocks-cards
rules:
  - {id: card, kinds: pii.card, direction: output, action: block, reason: Not said here.}
"""


def sent(answer: Answer) -> bytes:
    """The body of a chunked answer, or of one that ends with its connection."""
    raw = b"".join(getattr(step, "data", b"") for step in answer)
    head, _, rest = raw.partition(b"\r\n\r\n")
    if b"chunked" not in head:
        return rest
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return body


def text(body: bytes, index: int = 0, key: str = "content") -> str:
    """All of one text of a stream."""
    return "".join(
        choice["delta"].get(key) or ""
        for event in events(body)
        for choice in event["choices"]
        if choice["index"] == index
    )


def events(body: bytes) -> list[Any]:
    parts = [part.removeprefix(b"data: ") for part in body.split(b"\n\n")[:-1]]
    return [json.loads(part) for part in parts if part != b"[DONE]"]


@pytest.mark.parametrize("scenario", UNCHANGED)
async def test_a_stream_that_nobody_changes_arrives_byte_for_byte(
    tmp_path: Path, fake_engine: FakeEngine, scenario: str
) -> None:
    expected = sent(SCENARIOS[scenario]())
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(model=f"fake-{scenario}", stream=True, **USAGE))
    [closing] = proxy.closings

    assert body == expected
    assert (closing["st"], closing["why"]) == ("complete", "ok")


async def test_the_head_of_a_stream_asks_nobody_to_hold_it_back(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy, proxy.post(hello(stream=True)) as answer:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        await answer.read()
        [told] = await proxy.settled()

    assert headers.pop("date")
    assert headers.pop("connection", "keep-alive") == "keep-alive"
    assert headers == {
        "content-type": "text/event-stream",
        "x-request-id": told.request_id,
        "server": "tidegate",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "transfer-encoding": "chunked",
    }


async def test_the_engine_is_always_asked_for_usage_and_the_client_gets_it_only_if_it_asked(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        without = await proxy.stream(hello(stream=True))
        unasked = await proxy.stream(hello(stream=True, stream_options={"include_usage": False}))
        asked = await proxy.stream(hello(stream=True, **USAGE))
        told = await proxy.settled(3)
    words = talk(["Hello", " there", "."])

    assert without == unasked == b"".join([*words[:-2], DONE])
    assert asked == b"".join(words)
    assert [call.json["stream_options"] for call in fake_engine.calls] == [
        {"include_usage": True}
    ] * 3
    assert [(m.input_tokens, m.output_tokens, m.tokens_estimated) for m in told] == [
        (9, 3, False)
    ] * 3
    assert [closing["use"] for closing in proxy.closings] == [{"in": 9, "out": 3}] * 3


async def test_a_completion_streams_too(tmp_path: Path, fake_engine: FakeEngine) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(
            {"model": "m", "prompt": "Hi", "stream": True}, "/v1/completions"
        )
        whole = await proxy.ask({"model": "m", "prompt": "Hi"}, "/v1/completions")
        vectors = await proxy.ask({"model": "m", "input": ["a", "b"]}, "/v1/embeddings")

    assert body.endswith(DONE)
    assert whole[1]["choices"][0]["text"] == "Hello there."
    assert len(vectors[1]["data"]) == 2
    assert [opening["req"]["op"] for opening in proxy.openings] == [
        "text_completion",
        "text_completion",
        "embeddings",
    ]


async def test_a_stream_whose_first_text_is_held_begins_with_that_text_and_not_with_its_end(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    # "4" may begin a card number.  Without a role event before it nothing may go out yet, and an
    # empty piece would be the chunk that ends a chunked body.
    parts = [frame(event) for event in (says("4"), says("2 is it."), finish())]
    fake_engine.then(stream(parts[0], Pause(0.05), *parts[1:], DONE))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))
    [closing] = proxy.closings

    assert body == b"".join([*parts, DONE])
    assert (closing["st"], closing["why"]) == ("complete", "ok")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 40])
async def test_a_secret_cut_across_events_is_masked(
    tmp_path: Path, fake_engine: FakeEngine, size: int
) -> None:
    words = [f"The key is {KEY} today."[at : at + size] for at in range(0, len(KEY) + 18, size)]
    fake_engine.then(stream(*apart(*talk(words))))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))
    [closing] = proxy.closings
    said = text(body)

    assert KEY not in said
    assert KEY[12:40] not in said
    assert said.startswith("The key is [")
    assert said.endswith("] today.")
    assert body.endswith(DONE)
    assert closing["act"] == "redact"
    assert closing["st"] == "complete"


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
async def test_a_secret_cut_across_reads_is_masked(
    tmp_path: Path, fake_engine: FakeEngine, size: int
) -> None:
    raw = b"".join(talk(["It is ", KEY[:20], KEY[20:], "."]))
    fake_engine.then(stream(*cut(raw, size)))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))

    assert KEY[:30].encode() not in body
    assert text(body).startswith("It is [")


async def test_each_choice_and_each_channel_is_masked_by_itself(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    first, second = KEY[:30], KEY[30:]
    sequence = [
        role(0),
        role(1),
        says(first, index=0),
        says(first, index=1),
        thinks(first),
        calls(0, name="send"),
        calls(0, arguments='{"k": "' + first),
        says(" and more", index=0),
        says(second, index=1),
        thinks(second),
        calls(0, arguments=second + '"}'),
        finish(index=0),
        finish(index=1),
        usage(),
    ]
    fake_engine.then(stream(*(frame(event) for event in sequence), DONE))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True, n=2))
    arguments = "".join(
        call["function"].get("arguments", "")
        for event in events(body)
        for choice in event["choices"]
        for call in choice["delta"].get("tool_calls") or ()
    )

    assert KEY not in text(body, 1)
    assert KEY not in text(body, 0, "reasoning_content")
    assert KEY not in arguments
    assert json.loads(arguments)["k"].startswith("[")
    assert second.encode() not in body


async def test_a_block_in_the_middle_ends_every_choice_and_the_stream(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    (tmp_path / "policy.yaml").write_text(BLOCKING, "utf-8")
    sequence = talk(["Your card is ", CARD[:9], CARD[9:], " as ", "you know."])
    fake_engine.then(stream(*apart(*sequence)))
    policies = {"default": {"file": "policy.yaml"}}
    async with proxied(tmp_path, fake_engine, policies=policies) as proxy:
        body = await proxy.stream(hello(stream=True, **USAGE))
        [told] = await proxy.settled()
    [closing] = proxy.closings
    last = [event for event in events(body) if event["choices"]][-1]

    assert text(body) == "Your card is "
    assert last["choices"][0]["finish_reason"] == "content_filter"
    assert body.endswith(DONE)
    assert told.outcome == "blocked"
    assert (closing["act"], closing["why"], closing["st"]) == ("block", "blocked", "complete")
    assert closing["out"]["fin"] == ["content_filter"]


async def test_a_block_stops_the_engine(tmp_path: Path, fake_engine: FakeEngine) -> None:
    (tmp_path / "policy.yaml").write_text(BLOCKING, "utf-8")
    fake_engine.then(stream(*talk(["It is ", CARD, ". Bye"])[:-3], Stall()))
    policies = {"default": {"file": "policy.yaml"}}
    async with proxied(tmp_path, fake_engine, policies=policies) as proxy:
        body = await proxy.stream(hello(stream=True))
        call = await fake_engine.call()
        await call.gone.wait()

    assert body.endswith(DONE)
    assert not call.answered.is_set()


async def test_a_whole_answer_is_masked_or_blocked_alike(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(json_answer(chat_body(f"The key is {KEY}.")))
    async with proxied(tmp_path, fake_engine) as proxy:
        _, body = await proxy.ask(hello())
    [closing] = proxy.closings
    said = body["choices"][0]["message"]["content"]

    assert said.startswith("The key is [")
    assert said.endswith("].")
    assert closing["act"] == "redact"
    assert closing["code"] == 200


async def test_a_whole_answer_that_is_blocked_says_so(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    (tmp_path / "policy.yaml").write_text(BLOCKING, "utf-8")
    fake_engine.then(json_answer(chat_body(f"It is {CARD}.")))
    policies = {"default": {"file": "policy.yaml"}}
    async with proxied(tmp_path, fake_engine, policies=policies) as proxy:
        status, body = await proxy.ask(hello())

    assert status == 200
    assert body["choices"][0]["finish_reason"] == "content_filter"
    assert body["choices"][0]["message"]["content"] == "It is "


async def test_a_gzipped_answer_is_read_and_passed_on_plain(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with (
        proxied(tmp_path, fake_engine) as proxy,
        proxy.post(hello(model="fake-gzip")) as answer,
    ):
        encoding = answer.headers.get("Content-Encoding")
        body = await answer.json()
    [call] = fake_engine.calls

    assert encoding is None
    assert body["choices"][0]["message"]["content"] == "Hello there."
    assert call.header("Accept-Encoding") == "identity"
