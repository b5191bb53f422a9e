"""What only the whole configuration can tell."""

from pathlib import Path

import pytest
from tests.proxy.config.files import MINIMAL, loaded, mistakes

HASH = f"sha256$abcd1234${'0' * 32}${'0' * 64}"


def words(folder: Path, text: str) -> list[str]:
    """The problems without their place."""
    return [line.partition(": ")[2] for line in mistakes(folder, text)]


def test_references_to_nothing_are_mistakes(tmp_path: Path) -> None:
    text = MINIMAL.replace("[a]", "[a, b]").replace("pool: main", "pool: man, policy: strict")

    assert words(tmp_path, text) == [
        "pools.main.engines[1] is 'b', there is no engine of that name, use one of a",
        "routes.chat.pool is 'man', there is no pool of that name, did you mean 'main'?",
        "routes.chat.policy is 'strict', there is no policy of that name, use one of default",
    ]


def test_a_reference_to_something_mistaken_is_none_to_nothing(tmp_path: Path) -> None:
    assert len(words(tmp_path, MINIMAL.replace("http:", "ftp:"))) == 1


def test_the_default_policy_must_exist_if_there_are_others(tmp_path: Path) -> None:
    [problem] = words(tmp_path, MINIMAL + "policies: {mine: {pack: strict}}")

    assert problem.startswith("routes.chat.policy is 'default', there is no policy of that name")


@pytest.mark.parametrize(
    "pools", ["5", "{main: 5}", "{main: {engines: 5}}", "{main: {engines: [5]}}"]
)
def test_sections_of_another_shape_are_reported_once(tmp_path: Path, pools: str) -> None:
    text = MINIMAL.replace("{main: {engines: [a]}}", pools)

    assert [line for line in words(tmp_path, text) if line.startswith("pools")] != []


def test_granted_routes_must_exist(tmp_path: Path) -> None:
    text = MINIMAL.replace(
        "anonymous: true",
        f"anonymous: {{routes: [c*, x*]}}, keys: {{k: {{hash: {HASH}, routes: chatt}}}}",
    )

    assert words(tmp_path, text) == [
        "access.anonymous.routes[1] is 'x*', it names no route, use one of chat",
        "access.keys.k.routes[0] is 'chatt', it names no route, did you mean 'chat'?",
    ]


def test_a_model_name_belongs_to_one_route(tmp_path: Path) -> None:
    routes = "{chat: {models: [m, m], pool: main}, two: {models: [m], pool: main}}"
    text = MINIMAL.replace('{chat: {models: ["*"], pool: main}}', routes)

    assert words(tmp_path, text) == [
        (
            "routes.chat.models[1] is 'm', the same route has 'm' already, remove one, or make one"
            " narrower"
        ),
        (
            "routes.two.models[0] is 'm', the route 'chat' serves 'm', and a model can fit both,"
            " remove one, or make one narrower"
        ),
    ]


def test_one_model_name_may_serve_two_routes_by_path(tmp_path: Path) -> None:
    routes = "{one: {models: m, pool: main, paths: /a}, two: {models: m, pool: main, paths: /b}}"

    loaded(tmp_path, MINIMAL.replace('{chat: {models: ["*"], pool: main}}', routes))
    assert words(
        tmp_path,
        MINIMAL.replace('{chat: {models: ["*"], pool: main}}', routes.replace("/b", "'/b, /a'")),
    )


@pytest.mark.parametrize(
    ("listeners", "clash"),
    [
        ("main: {port: 9090}", "admin.port is 9090, listeners.main.port is the same port"),
        ("a: {port: 1}, b: {port: 1}", "listeners.b.port is 1, listeners.a.port is the same port"),
        ("a: {port: 1}, b: {port: 1, host: localhost}", "listeners.b.port is 1, listeners.a.port"),
    ],
)
def test_ports_of_one_address_must_differ(tmp_path: Path, listeners: str, clash: str) -> None:
    [problem] = words(tmp_path, f"{MINIMAL}listeners: {{{listeners}}}")

    assert problem.startswith(clash)


def test_a_port_on_all_addresses_clashes_with_any(tmp_path: Path) -> None:
    text = MINIMAL.replace("true", "true, anonymous_anywhere: true")
    [problem] = words(tmp_path, text + "listeners: {a: {port: 9090, host: 0.0.0.0}}")

    assert problem.startswith("admin.port is 9090")


@pytest.mark.parametrize(
    "listeners", ["a: {port: 0}, b: {port: 0}", "a: {port: 1}, b: {port: 1, host: 127.0.0.2}"]
)
def test_other_ports_and_addresses_do_not_clash(tmp_path: Path, listeners: str) -> None:
    loaded(tmp_path, f"{MINIMAL}listeners: {{{listeners}}}")


def test_an_engine_has_one_credential(tmp_path: Path) -> None:
    text = MINIMAL.replace('8000"', '8000", api_key: x, api_key_file: tidegate.yaml')
    first, *_ = words(tmp_path, text)

    assert first.startswith("engines.a has api_key and api_key_file, an engine has one credential")


def test_an_engine_is_in_a_pool_once(tmp_path: Path) -> None:
    assert words(tmp_path, MINIMAL.replace("[a]", "[a, a]")) == [
        "pools.main.engines[1] is 'a' once more, it is in the pool already, remove it"
    ]


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        ("{}", "policies.default has neither pack nor file"),
        ("{pack: strict, file: x}", "policies.default has both pack and file"),
        ("{pack: strickt}", "policies.default.pack is 'strickt', there is no pack of that name"),
    ],
)
def test_a_policy_is_one_pack_or_one_file(tmp_path: Path, policy: str, what: str) -> None:
    assert words(tmp_path, f"{MINIMAL}policies: {{default: {policy}}}")[0].startswith(what)


def test_somebody_must_be_able_to_call(tmp_path: Path) -> None:
    assert mistakes(tmp_path, MINIMAL.replace("anonymous: true", "")) == [
        (
            "tidegate.yaml:4:1: nobody may call, there is no key and callers without one are not"
            " served, add one with `tidegate key new`, or set access.anonymous to true"
        )
    ]


def test_anonymous_callers_are_served_on_loopback_only(tmp_path: Path) -> None:
    listeners = "listeners: {main: {host: 10.0.0.1}}"
    [problem] = words(tmp_path, MINIMAL + listeners)

    assert problem.startswith("listeners.main.host is '10.0.0.1', callers without a key")
    loaded(tmp_path, MINIMAL.replace("true", "true, anonymous_anywhere: true") + listeners)
    keyed = MINIMAL.replace("anonymous: true", f"keys: {{k: {{hash: {HASH}}}}}")
    loaded(tmp_path, keyed + listeners)


def test_a_key_belongs_to_one_caller(tmp_path: Path) -> None:
    keys = f"keys: {{k: {{hash: {HASH}}}, l: {{hash: {HASH}}}}}"
    [problem] = words(tmp_path, MINIMAL.replace("anonymous: true", keys))

    assert problem.startswith("access.keys.l.hash has the id of the key of 'k', a key belongs to")


def test_warnings_name_what_is_unused_or_open(tmp_path: Path) -> None:
    text = (
        MINIMAL.replace("engines: {a", 'engines: {spare: {url: "http://s"}, a')
        + "policies: {default: {pack: default}, other: {pack: strict}}\nadmin: {host: 0.0.0.0}\n"
    )

    assert [problem.what for problem in loaded(tmp_path, text).warnings] == [
        "engines.spare is not used",
        "policies.other is not used",
        "admin.host is '0.0.0.0'",
    ]


def test_settings_of_callers_who_are_not_served_are_a_warning(tmp_path: Path) -> None:
    keys = f"keys: {{k: {{hash: {HASH}}}}}"
    for written, warned in (
        ("{tenant: guests}", ["access.anonymous has no effect"]),
        ("{tenant: guests, enabled: false}", []),
        ("{tenant: guests, enabled: true}", []),
        ("false", []),
    ):
        text = MINIMAL.replace("anonymous: true", f"anonymous: {written}, {keys}")

        assert [problem.what for problem in loaded(tmp_path, text).warnings] == warned


def test_the_default_policy_of_nobody_is_no_warning(tmp_path: Path) -> None:
    text = MINIMAL + "policies: {mine: {pack: strict}}"

    assert loaded(tmp_path, text.replace("pool: main", "pool: main, policy: mine")).warnings == ()


def test_a_policy_may_be_a_file(tmp_path: Path) -> None:
    config = loaded(tmp_path, MINIMAL + "policies: {default: {file: tidegate.yaml}}")

    assert config.policies["default"].pack is None
