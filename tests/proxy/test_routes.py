import pytest
from tests.proxy.exchanges import policy, route

from tidegate.policies import Direction, Facts
from tidegate.proxy import routes as module
from tidegate.proxy.config.document import Route as Configured
from tidegate.proxy.config.names import ModelNames
from tidegate.proxy.errors import BadRequest
from tidegate.proxy.routes import Router

CHAT = "/v1/chat/completions"
NAMES = ModelNames(
    {
        "chat": Configured(models=("m", "gpt-*"), pool="main"),
        "embed": Configured(models=("e",), pool="main", paths=("/v1/embeddings",)),
    }
)
ROUTES = {
    "chat": route(name="chat", models=("m", "gpt-*")),
    "embed": route(name="embed", models=("e",)),
}


def router() -> Router:
    return Router(ROUTES, NAMES)


def test_a_model_is_served_by_its_route() -> None:
    found = router()

    assert found.find("m", CHAT) is ROUTES["chat"]
    assert found.find("gpt-4", CHAT) is ROUTES["chat"]
    assert found.find("gpt-4", CHAT) is ROUTES["chat"]
    assert found.find("e", "/v1/embeddings") is ROUTES["embed"]


@pytest.mark.parametrize(("model", "path"), [("x", CHAT), ("e", CHAT), ("", CHAT)])
def test_a_model_without_a_route_is_not_found(model: str, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        router().find(model, path)
    assert (
        caught.value.status,
        caught.value.code,
        caught.value.param,
    ) == (404, "model_not_found", "model")


def test_names_beyond_those_kept_are_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FOUND", 2)
    found = router()

    for number in range(5):
        assert found.find(f"gpt-{number}", CHAT) is ROUTES["chat"]
    assert found.find("gpt-" + "x" * 10_000, CHAT) is ROUTES["chat"]


def test_only_names_of_the_configuration_are_known() -> None:
    assert [router().known(name) for name in ("m", "e", "gpt-4", "gpt-*")] == [
        "m",
        "e",
        "_OTHER",
        "_OTHER",
    ]


def test_all_routes_are_listed_with_the_models_that_have_a_name() -> None:
    assert tuple(ROUTES.values()) == router().routes
    assert ROUTES["chat"].named == ("m",)


def test_a_policy_is_told_the_route_and_the_caller() -> None:
    expected = Facts(Direction.OUTPUT, "chat", "tenant", "joe")

    assert expected == route(policy()).facts(Direction.OUTPUT, "tenant", "joe")
