from pathlib import Path
from typing import Any

import pytest
from tests.audit.logs import FaultyFiles
from tests.fakes.answers import Answer, Close, Pause, Reset, Stall, apart, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import (
    DONE,
    comment,
    engine_error,
    finish,
    frame,
    role,
    says,
    talk,
    usage,
)
from tests.gates import hello, posted, proxied
from tests.proxy.exchanges import exchange

from tidegate.proxy.relay import Relay

ASK = hello(stream=True)
NO_PARTS: Any = None
KEY = "AKIAIOSFODNN7EXAMPLE"
BEGIN = [frame(role()), frame(says("One "))]
END = [frame(finish()), DONE]


async def test_a_stream_passes_as_it_came_and_its_figures_are_kept(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    pieces = [*talk(["One", " two"])[:-1], frame(usage()), DONE]
    fake_engine.then(stream(*apart(*pieces)))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(ASK | {"stream_options": {"include_usage": True}})
        [told] = await proxy.settled()

    assert b"".join(pieces) == body
    assert (told.tokens_estimated, told.finish_reasons, told.model_answered) == (
        False,
        ["stop"],
        "fake",
    )
    assert len(told.gaps_ns) == 1


async def test_without_usage_each_text_counts_as_a_token(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*apart(*BEGIN, *END)))
    async with proxied(tmp_path, fake_engine) as proxy:
        await proxy.stream(ASK)
        [told] = await proxy.settled()

    assert (told.output_tokens, told.tokens_estimated) == (1, True)


async def test_a_stream_without_text_is_passed_on_at_its_end(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    pieces = [frame(role()), *END]
    fake_engine.then(stream(*apart(*pieces)))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(ASK)
        [told] = await proxy.settled()

    assert b"".join(pieces) == body
    assert told.output_tokens == -1


async def test_nothing_goes_out_before_the_first_text(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(comment(), frame(role()), Stall(), *BEGIN[1:], *END))
    async with (
        proxied(tmp_path, fake_engine) as proxy,
        proxy.connection() as (reader, writer),
    ):
        writer.write(posted(ASK, "Connection: close"))
        call = await fake_engine.call()
        await call.stalled.wait()
        early = bytes(reader._buffer)  # type: ignore[attr-defined]  # what has come so far
        call.resume.set()
        body = await reader.read(-1)

    assert early == b""
    assert body.index(b": ping") < body.index(b"One ")


async def test_text_that_is_held_begins_no_answer(tmp_path: Path, fake_engine: FakeEngine) -> None:
    fake_engine.then(
        stream(*apart(frame(says(KEY[:12])), frame(says(KEY[12:])), frame(says(" end"))), *END)
    )
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(ASK)

    assert KEY.encode() not in body
    assert body.endswith(DONE)


FAILURES: dict[str, tuple[Answer, str]] = {
    "a reset": (stream(*apart(*BEGIN), end=(Reset(),)), "truncated"),
    "half a stream": (stream(*apart(*BEGIN), Pause(), end=(Close(),)), "truncated"),
    "an error inside": (stream(*apart(*BEGIN, frame(engine_error()), DONE)), "engine_error"),
    "an error with the text": (stream(b"".join(BEGIN) + frame(engine_error())), "engine_error"),
    "no finish": (stream(*apart(*BEGIN)), "truncated"),
}


@pytest.mark.parametrize(("answer", "code"), FAILURES.values(), ids=FAILURES.keys())
async def test_a_stream_that_fails_ends_in_an_error_whenever_it_fails(
    tmp_path: Path, fake_engine: FakeEngine, answer: Answer, code: str
) -> None:
    fake_engine.then(answer, answer)
    async with proxied(tmp_path, fake_engine) as proxy, proxy.post(ASK) as got:
        body = await got.read()

    assert f'"code":"{code}"'.encode() in body
    assert b"[DONE]" not in body
    assert (b"One " in body) == (got.status == 200)
    assert proxy.closings[0]["err"] == code


async def test_before_the_first_text_another_engine_is_asked(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*apart(frame(role())), end=(Reset(),)))
    async with FakeEngine() as other, proxied(tmp_path, fake_engine, other) as proxy:
        other.then(stream(*apart(*BEGIN, *END)))
        body = await proxy.stream(ASK)

    assert b"".join([*BEGIN, *END]) == body
    assert (len(fake_engine.calls), len(other.calls)) == (1, 1)


async def test_no_byte_goes_out_before_the_opening_record_is_durable(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    files = FaultyFiles()
    fake_engine.then(stream(*apart(*BEGIN, *END)))
    async with proxied(tmp_path, fake_engine, files=files) as proxy:
        files.failing = {"write": 10**6, "create": 10**6}
        status, body = await proxy.ask(ASK)
        files.failing = {}

    assert (status, body["error"]["code"]) == (503, "audit_unavailable")


async def test_a_client_that_reads_slowly_gets_everything(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    words = ["word " * 2000] * 200
    fake_engine.then(stream(*talk(words)))
    async with (
        proxied(tmp_path, fake_engine) as proxy,
        proxy.connection() as (reader, writer),
    ):
        writer.write(posted(ASK, "Connection: close"))
        await fake_engine.call()
        body = b""
        while piece := await reader.read(4096):
            body += piece

    assert body.count(b"word word") >= 200
    assert body.endswith(b"0\r\n\r\n")


def test_a_stream_without_a_route_is_a_fault_of_ours() -> None:
    with pytest.raises(AssertionError, match="without a route"):
        Relay(exchange(), NO_PARTS, NO_PARTS, None)
