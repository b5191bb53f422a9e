"""Loading: all mistakes at once, credentials fetched, nothing secret shown."""

import traceback
from pathlib import Path

import pytest
from tests.proxy.config.files import MINIMAL, loaded, mistakes, written

from tidegate.proxy.config import Config, ConfigError, load


def with_engine(extra: str) -> str:
    return MINIMAL.replace('8000"', f'8000", {extra}')


def test_a_minimal_file_gets_all_defaults(tmp_path: Path) -> None:
    config = loaded(tmp_path)

    assert (config.listeners["main"].host, config.listeners["main"].port) == ("127.0.0.1", 8080)
    assert (config.admin.host, config.admin.port) == ("127.0.0.1", 9090)
    assert config.routes["chat"].policy == "default"
    assert config.policies["default"].pack == "default"
    assert config.audit.dir == tmp_path / "audit"
    assert config.limits.body == 32 * 1024**2
    assert config.warnings == ()


def test_the_example_file_loads() -> None:
    path = Path(__file__).parents[3] / "deploy" / "tidegate.example.yaml"

    assert load(path, {}).warnings == ()


def test_mistakes_of_all_sorts_come_at_once(tmp_path: Path) -> None:
    text = """\
engines:
  a: {url: ftp://x, ulr: 5}
pools: {main: {engines: [zz], health: {interval: soon}}}
routes: {chat: {models: [], pool: mian}}
access: {anonymous: true}
"""

    assert mistakes(tmp_path, text, {"TIDEGATE_ENGINES": "x"}) == [
        (
            "tidegate.yaml:2:12: engines.a.url is 'ftp://x', it must be an http or https address,"
            " write it like http://10.0.0.7:8000"
        ),
        (
            "tidegate.yaml:2:21: engines.a.ulr is unknown, engines.a has no such key, did you mean"
            " 'url'?"
        ),
        (
            "tidegate.yaml:3:26: pools.main.engines[0] is 'zz', there is no engine of that name,"
            " use one of a"
        ),
        (
            "tidegate.yaml:3:50: pools.main.health.interval is 'soon', it must be a duration: a"
            " number with ms, s, m, h or d, write it like 250ms or 5s"
        ),
        "tidegate.yaml:4:25: routes.chat.models is a list, it needs at least 1 item, add one",
        (
            "tidegate.yaml:4:35: routes.chat.pool is 'mian', there is no pool of that name, did"
            " you mean 'main'?"
        ),
        (
            "TIDEGATE_ENGINES: the variable fits no single value, its name leads to a map, through"
            " a plain value, or to two names that look alike, see docs/configuration.md for the"
            " names of variables"
        ),
    ]


def test_an_empty_file_lacks_what_has_no_default(tmp_path: Path) -> None:
    whats = [line.partition(" is ")[0] for line in mistakes(tmp_path, "# nothing\n")]

    assert whats == ["tidegate.yaml: engines", "tidegate.yaml: pools", "tidegate.yaml: routes"]


@pytest.mark.parametrize("text", ["- a", "text", "5"])
def test_a_file_that_is_no_map_is_refused(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text) == [
        (
            "tidegate.yaml:1:1: the file holds no keys, it must be a map, write `engines:` and so"
            " on at the left margin"
        )
    ]


def test_broken_yaml_is_reported(tmp_path: Path) -> None:
    [found] = mistakes(tmp_path, "a: [")

    assert found.startswith("tidegate.yaml:1:5: this is not valid YAML")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "none.yaml", {})

    assert str(caught.value) == (
        f"{tmp_path}/none.yaml: the file cannot be read, No such file or directory,"
        " check its path and permissions"
    )


def test_a_file_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes(b"a: \xff")
    with pytest.raises(ConfigError, match="byte 3 is not UTF-8"):
        load(path, {})


def test_credentials_come_from_variable_or_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n")
    keys = [
        loaded(tmp_path, with_engine(extra), {"KEY": "from-variable"}).engines["a"].api_key
        for extra in ("api_key: plain", "api_key_env: KEY", "api_key_file: key")
    ]

    assert [key.get_secret_value() for key in keys if key] == [
        "plain",
        "from-variable",
        "from-file",
    ]


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ("api_key_env: KEY", "the variable 'KEY' is not set"),
        ("api_key_env: BAD", "the variable 'BAD' does not hold one line of printable ASCII"),
        ("api_key_file: none", "none: No such file or directory"),
        ("api_key_file: bad", "bad does not hold one line of printable ASCII"),
    ],
)
def test_a_credential_that_cannot_be_had_is_a_mistake(
    tmp_path: Path, extra: str, why: str
) -> None:
    (tmp_path / "bad").write_text("two\nlines")
    key = extra.partition(":")[0]
    [found] = mistakes(tmp_path, with_engine(extra), {"BAD": "hunter2\nx", "KEY": ""})

    assert f"engines.a.{key} leads to no credential, {why}, put the bare" in found
    assert "hunter2" not in found


SECRETS = [
    with_engine("api_key: [hunter2]"),
    with_engine('api_key: "hunter2\\n"'),
    with_engine("api_key: hunter2, api_key_env: X"),
    with_engine("api_key: {hunter2: x}"),
    MINIMAL.replace("http://", "http://u:hunter2@"),
    MINIMAL.replace("8000", "8000?key=hunter2"),
    MINIMAL.replace("8000", "8000:hunter2"),
    MINIMAL + "telemetry: {otlp: {headers: {authorization: 'x\thunter2\x85'}}}",
    MINIMAL + "telemetry: {otlp: {headers: 'hunter2'}}",
    MINIMAL.replace("true}", "true, keys: {x: {hash: hunter2}}}"),
    MINIMAL.replace("true}", "true, keys: {x: {hash: {y: hunter2}}}}"),
]


@pytest.mark.parametrize("text", SECRETS)
def test_no_secret_shows_in_a_mistake_nor_in_its_traceback(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    told = "".join(traceback.format_exception(caught.value)).replace("{hunter2: x}", "")

    assert "hunter2" not in told


def test_no_secret_shows_in_a_configuration(tmp_path: Path) -> None:
    headers = "telemetry: {otlp: {endpoint: http://c:4318, headers: {authorization: hunter2}}}"
    config = loaded(tmp_path, with_engine("api_key: hunter2") + headers)

    assert "hunter2" not in f"{config!r} {config} {config.engines['a']} {config.telemetry}"


def test_a_policy_file_is_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("")
    config = loaded(tmp_path, MINIMAL + "policies: {default: {file: p.yaml}}")

    assert config.policies["default"].file == tmp_path / "p.yaml"


def test_a_policy_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    [found] = mistakes(tmp_path, MINIMAL + "policies: {default: {file: p.yaml}}")

    assert found == (
        "tidegate.yaml:5:28: policies.default.file is 'p.yaml', there is no file p.yaml,"
        " correct the path"
    )


def test_what_is_unused_is_a_warning(tmp_path: Path) -> None:
    text = MINIMAL.replace("main: {engines: [a]}", "main: {engines: [a]}, spare: {engines: [a]}")
    config = loaded(tmp_path, text)

    assert [problem.what for problem in config.warnings] == ["pools.spare is not used"]


def test_a_configuration_cannot_be_changed(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    with pytest.raises(TypeError):
        config.engines["b"] = config.engines["a"]  # type: ignore[index]  # the point of the test
    with pytest.raises(ValueError, match="frozen"):
        config.admin = config.admin

    assert isinstance(config, Config)
