from pathlib import Path
from typing import Any

import pytest
from tests.fakes.answers import Reset, apart, json_answer, stream
from tests.fakes.engine import FakeEngine
from tests.fakes.events import DONE, chat_body, finish, frame, role, says, talk
from tests.gates import hello, proxied
from tests.proxy.exchanges import exchange

from tidegate.detectors import scanner
from tidegate.proxy import forward

ALIAS = {"r": {"models": ["alias", "other"], "pool": "main", "model": "fake"}}
KEY = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5q" * 2 + "T3BlbkFJ" + "Ab3dEf6hIj9kLm2nOp5q" * 2
BLOCK_CARDS = """\
version: 1
name: cards
rules:
  - {id: card, kinds: pii.card, direction: output, action: block, reason: No.}
"""


async def test_models_are_those_of_the_routes(tmp_path: Path, fake_engine: FakeEngine) -> None:
    async with proxied(tmp_path, fake_engine, routes=ALIAS) as proxy:
        pages = []
        for path in ("/models", "/models/alias", "/models/none"):
            async with proxy.http.get(proxy.base_url + path) as answer:
                pages.append((answer.status, await answer.json()))

    assert [model["id"] for model in pages[0][1]["data"]] == ["alias", "other"]
    assert pages[1][1]["id"] == "alias"
    assert (pages[2][0], pages[2][1]["error"]["code"]) == (404, "model_not_found")


async def test_a_whole_answer_is_counted_and_renamed(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine, routes=ALIAS) as proxy:
        _, body = await proxy.ask(hello(model="alias"))
        [told] = await proxy.settled()

    assert body == chat_body() | {"model": "alias"}
    assert (told.input_tokens, told.output_tokens, told.tokens_estimated) == (9, 3, False)
    assert told.finish_reasons == ["stop"]
    assert told.model_answered == "fake"


async def test_without_usage_tokens_are_estimated(tmp_path: Path, fake_engine: FakeEngine) -> None:
    plain = {key: value for key, value in chat_body().items() if key != "usage"}
    fake_engine.then(json_answer(plain), stream(*talk(["One", " two"])[:-2], DONE))
    async with proxied(tmp_path, fake_engine) as proxy:
        await proxy.ask(hello())
        await proxy.stream(hello(stream=True))
        told = await proxy.settled(2)

    assert all(m.tokens_estimated for m in told)
    assert all(m.input_tokens > 0 for m in told)
    assert told[1].output_tokens == 2


async def test_an_answer_without_text_is_passed_on(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with proxied(tmp_path, fake_engine) as proxy:
        status, body = await proxy.ask({"model": "m", "input": "x"}, "/v1/embeddings")

    assert status == 200
    assert body["data"][0]["embedding"] == [0.1, 0.2]


async def test_a_whole_answer_is_masked_or_blocked(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    (tmp_path / "cards.yaml").write_text(BLOCK_CARDS)
    fake_engine.then(json_answer(chat_body(f"It is {KEY}.")))
    fake_engine.then(json_answer(chat_body("It is 4111 1111 1111 1111.")))
    policies = {"default": {"pack": "default"}, "cards": {"file": "cards.yaml"}}
    routes = {
        "r": {"models": ["m"], "pool": "main"},
        "c": {"models": ["c"], "pool": "main", "policy": "cards"},
    }
    async with proxied(tmp_path, fake_engine, policies=policies, routes=routes) as proxy:
        _, masked = await proxy.ask(hello())
        _, blocked = await proxy.ask(hello(model="c"))

    assert KEY not in masked["choices"][0]["message"]["content"]
    assert blocked["choices"][0]["finish_reason"] == "content_filter"
    assert [closing["act"] for closing in proxy.closings] == ["redact", "block"]


async def test_the_text_of_a_refusal_is_screened_too(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(json_answer({"error": {"message": f"bad key {KEY}"}}, status=422))
    async with proxied(tmp_path, fake_engine) as proxy:
        status, body = await proxy.ask(hello())

    assert status == 422
    assert body["error"]["message"].startswith("bad key [")


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (401, (), (502, "engine_auth", None)),
        (403, (), (502, "engine_auth", None)),
        (503, (), (503, "engine_busy", None)),
        (500, (), (502, "engine_error", None)),
        (302, (("Location", "http://evil.example/"),), (502, "engine_error", None)),
        (201, (), (502, "engine_error", None)),
        (404, (), (404, "engine_refused", None)),
        (429, (("Retry-After", "999"),), (429, "engine_refused", "120")),
        (429, (("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"),), (429, "engine_refused", None)),
    ],
)
async def test_each_status_of_an_engine_has_its_meaning(
    tmp_path: Path,
    fake_engine: FakeEngine,
    status: int,
    headers: tuple[tuple[str, str], ...],
    told: tuple[int, str, str | None],
) -> None:
    answer = json_answer({"error": {"message": "no"}}, status=status, headers=headers)
    fake_engine.then(answer, answer)
    async with proxied(tmp_path, fake_engine) as proxy, proxy.post(hello()) as got:
        body = await got.json()
        retry_after = got.headers.get("Retry-After")

    assert (got.status, body["error"]["code"], retry_after) == told


async def test_what_was_held_goes_out_before_the_error(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    pieces = [frame(role()), frame(says("Key: ")), frame(says(KEY[:12]))]
    fake_engine.then(stream(*apart(*pieces), end=(Reset(),)))
    async with proxied(tmp_path, fake_engine) as proxy:
        body = await proxy.stream(hello(stream=True))

    assert body.index(b"Key: ") < body.index(b'"error"')
    assert b"[DONE]" not in body


async def test_a_stream_of_an_alias_bears_the_clients_name(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    fake_engine.then(stream(*apart(frame(role()), frame(says("x")), frame(finish()), DONE)))
    async with proxied(tmp_path, fake_engine, routes=ALIAS) as proxy:
        body = await proxy.stream(hello(model="alias", stream=True))

    assert body.count(b'"alias"') == 3


async def test_an_engine_that_fails_is_ejected_and_the_log_says_so(
    tmp_path: Path, fake_engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_engine.then((Reset(),))
    pools: Any = {"main": {"engines": ["a"], "eject": {"errors": 1}}}
    async with proxied(tmp_path, fake_engine, pools=pools) as proxy:
        status, _ = await proxy.ask(hello())

    assert status == 200
    assert "engine.ejected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/chat/completions", {"data": []}, 502),
        ("/v1/chat/completions", {"choices": [], "data": []}, 200),
        ("/v1/embeddings", {"choices": []}, 502),
        ("/v1/embeddings", {"data": []}, 200),
    ],
)
async def test_an_answer_must_be_of_its_endpoints_form(
    tmp_path: Path, fake_engine: FakeEngine, path: str, body: Any, status: int
) -> None:
    fake_engine.then(json_answer(body))
    async with proxied(tmp_path, fake_engine) as proxy:
        got, said = await proxy.ask(hello(input="x"), path)

    assert got == status
    assert said.get("error", {}).get("code") == (None if status == 200 else "bad_answer")


async def test_an_answer_that_cannot_be_searched_ends_closed(
    tmp_path: Path, fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanner, "MOST_CANDIDATES", 5)
    digits = "4111 1111 1111 1112 " * 8
    fake_engine.then(
        json_answer(chat_body(digits)),
        stream(*talk([digits])),
        stream(*apart(frame(role()), frame(says("Well, ")), frame(says(digits)), DONE)),
    )
    async with proxied(tmp_path, fake_engine) as proxy:
        whole, body = await proxy.ask(hello())
        first, refused = await proxy.ask(hello(stream=True))
        begun = await proxy.stream(hello(stream=True))

    assert (whole, body["error"]["code"]) == (500, "answer_uninspectable")
    assert (first, refused["error"]["code"]) == (500, "answer_uninspectable")
    assert begun.index(b"Well, ") < begun.index(b'"answer_uninspectable"')
    assert b"4111" not in begun
    assert b"[DONE]" not in begun
    assert len(fake_engine.calls) == 3
    assert [closing["err"] for closing in proxy.closings] == ["answer_uninspectable"] * 3
    assert [closing["find"][-1]["verdict"] for closing in proxy.closings] == ["error"] * 3


@pytest.mark.parametrize("lacking", ["route", "endpoint"])
def test_a_request_without_its_parts_is_a_fault_of_ours(lacking: str) -> None:
    x = exchange()
    x.route = x.endpoint = None

    with pytest.raises(AssertionError, match=f"without an? {lacking}"):
        getattr(forward, f"_{lacking}")(x)
