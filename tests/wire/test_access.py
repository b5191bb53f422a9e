"""Who may call: refused in the dialect and on record; keys never travel to engines."""

from pathlib import Path
from typing import Any

import openai
import pytest
from tests.fakes.engine import FakeEngine
from tests.gates import hello, proxied

from tidegate.proxy.access import new_key

KEY, HASH = new_key()
OTHER, OTHER_HASH = new_key()
ENGINES_OWN = "engine-credential-0123456789"
ACCESS: Any = {
    "keys": {
        "alice": {"hash": HASH, "tenant": "acme"},
        "bob": {"hash": OTHER_HASH, "tenant": "other", "routes": ["small"]},
    }
}
ROUTES: Any = {
    "small": {"models": ["tiny"], "pool": "main"},
    "chat": {"models": ["*"], "pool": "main"},
}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    "headers", [bearer(KEY), {"x-api-key": KEY}, bearer(KEY) | {"x-api-key": KEY}]
)
async def test_a_key_in_either_header_is_taken_and_its_owner_on_record(
    tmp_path: Path, fake_engine: FakeEngine, headers: dict[str, str]
) -> None:
    async with proxied(tmp_path, fake_engine, access=ACCESS, routes=ROUTES) as proxy:
        status, _ = await proxy.ask(hello(), headers=headers)
        [told] = await proxy.settled()
    [opening] = proxy.openings

    assert status == 200
    assert (told.tenant, told.principal) == ("acme", "alice")
    assert opening["who"] == {
        "tenant": "acme",
        "sub": "alice",
        "auth": "key",
        "key": KEY.split("_")[1],
    }


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "missing_api_key"),
        (bearer("wrong-key-of-some-length"), "invalid_api_key"),
        (bearer(KEY[:-1] + ("a" if KEY[-1] != "a" else "b")), "invalid_api_key"),
        ({"Authorization": f"Basic {KEY}"}, "invalid_api_key"),
        ({"Authorization": KEY}, "invalid_api_key"),
        ({"Authorization": "Bearer "}, "invalid_api_key"),
        ({"x-api-key": ""}, "invalid_api_key"),
        (bearer(KEY) | {"x-api-key": OTHER}, "conflicting_api_keys"),
    ],
)
async def test_without_a_valid_key_nothing_is_served(
    tmp_path: Path, fake_engine: FakeEngine, headers: dict[str, str], code: str
) -> None:
    async with proxied(tmp_path, fake_engine, access=ACCESS, routes=ROUTES) as proxy:
        async with proxy.post(hello(), headers=headers) as answer:
            status, body, challenge = (
                answer.status,
                await answer.json(),
                answer.headers["WWW-Authenticate"],
            )
        models = await proxy.http.get(proxy.base_url + "/models", headers=headers)
        unknown = await proxy.http.get(proxy.base_url + "/files", headers=headers)
    opening, *_ = proxy.openings

    assert (status, body["error"]["code"]) == (401, code)
    assert body["error"]["type"] == "authentication_error"
    assert challenge == "Bearer"
    assert (models.status, unknown.status) == (401, 401)
    assert (opening["act"], opening["why"]) == ("error", code)
    assert "who" not in opening
    assert [closing["code"] for closing in proxy.closings] == [401, 401, 401]
    assert fake_engine.calls == []


async def test_a_key_may_use_only_its_routes(tmp_path: Path, fake_engine: FakeEngine) -> None:
    async with proxied(tmp_path, fake_engine, access=ACCESS, routes=ROUTES) as proxy:
        allowed = await proxy.ask(hello(model="tiny"), headers=bearer(OTHER))
        refused = await proxy.ask(hello(model="large"), headers=bearer(OTHER))
    opening = proxy.openings[1]

    assert allowed[0] == 200
    assert (refused[0], refused[1]["error"]["code"]) == (403, "route_forbidden")
    assert refused[1]["error"]["type"] == "permission_error"
    assert opening["who"]["sub"] == "bob"
    assert opening["route"]["req"] == "large"
    assert proxy.closings[1]["code"] == 403
    assert len(fake_engine.calls) == 1


async def test_no_credential_or_cookie_of_the_client_reaches_the_engine(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    headers = bearer(KEY) | {
        "x-api-key": KEY,
        "Cookie": f"session={KEY}",
        "OpenAI-Organization": "org-1",
        "X-Forwarded-For": "10.0.0.1",
        "Proxy-Authorization": f"Bearer {KEY}",
        "X-Anything": KEY,
    }
    async with proxied(tmp_path, fake_engine, access=ACCESS, routes=ROUTES) as proxy:
        status, _ = await proxy.ask(hello(), headers=headers)
    [call] = fake_engine.calls

    assert status == 200
    assert KEY.encode() not in call.raw
    assert sorted(name.lower() for name, _ in call.headers) == [
        "accept",
        "accept-encoding",
        "content-length",
        "content-type",
        "host",
        "traceparent",
        "x-request-id",
    ]


async def test_the_engines_own_credential_is_sent_to_it_and_to_its_probe(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    engines = {"a": {"url": fake_engine.url + "/v1", "api_key": ENGINES_OWN}}
    async with proxied(
        tmp_path, fake_engine, access=ACCESS, routes=ROUTES, engines=engines
    ) as proxy:
        status, _ = await proxy.ask(hello(), headers=bearer(KEY))
    probe = next(request for request in fake_engine.requests if request.method == "GET")
    [call] = fake_engine.calls
    log = b"".join(path.read_bytes() for path in (tmp_path / "audit").rglob("*.jsonl"))

    assert status == 200
    assert call.target == "/v1/chat/completions"
    assert call.header("Authorization") == f"Bearer {ENGINES_OWN}"
    assert probe.header("Authorization") == f"Bearer {ENGINES_OWN}"
    assert ENGINES_OWN.encode() not in log
    assert KEY.encode() not in log


async def test_anonymous_callers_are_served_only_where_the_configuration_says_so(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    access = ACCESS | {"anonymous": {"enabled": True, "routes": ["small"], "tenant": "guests"}}
    async with proxied(tmp_path, fake_engine, access=access, routes=ROUTES) as proxy:
        small = await proxy.ask(hello(model="tiny"))
        large = await proxy.ask(hello(model="large"))
        wrong = await proxy.ask(hello(model="tiny"), headers=bearer("wrong-key-of-some-length"))
    opening, *_ = proxy.openings

    assert (small[0], large[0], wrong[0]) == (200, 403, 401)
    assert opening["who"] == {"tenant": "guests", "sub": "anonymous", "auth": "anonymous"}


async def test_where_nobody_has_a_key_any_key_is_ignored(
    tmp_path: Path, fake_engine: FakeEngine
) -> None:
    async with (
        proxied(tmp_path, fake_engine) as proxy,
        openai.AsyncOpenAI(base_url=proxy.base_url, api_key="whatever") as client,
    ):
        messages: Any = hello()["messages"]
        answer = await client.chat.completions.create(model="m", messages=messages)

    assert answer.choices[0].message.content == "Hello there."


@pytest.mark.parametrize(
    ("headers", "error"),
    [("", openai.AuthenticationError), (OTHER, openai.PermissionDeniedError)],
)
async def test_the_official_client_raises_its_own_errors_and_does_not_retry(
    tmp_path: Path, fake_engine: FakeEngine, headers: str, error: type[openai.APIStatusError]
) -> None:
    key = headers or "wrong-key-of-some-length"
    async with (
        proxied(tmp_path, fake_engine, access=ACCESS, routes=ROUTES) as proxy,
        openai.AsyncOpenAI(base_url=proxy.base_url, api_key=key, max_retries=2) as client,
    ):
        messages: Any = hello()["messages"]
        with pytest.raises(error) as caught:
            await client.chat.completions.create(model="large", messages=messages)

    assert caught.value.request_id == proxy.openings[0]["req"]["id"]
    assert len(proxy.openings) == 1
