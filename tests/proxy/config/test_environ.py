"""Variables over the file."""

from pathlib import Path

import pytest
from tests.proxy.config.files import MINIMAL, loaded, mistakes

from tidegate.policies.problem import Place
from tidegate.policies.source import load
from tidegate.proxy.config.environ import overlay


def test_a_variable_beats_the_file(tmp_path: Path) -> None:
    config = loaded(tmp_path, environ={"TIDEGATE_ENGINES__A__URL": "http://other"})

    assert config.engines["a"].url == "http://other"


def test_a_variable_makes_what_the_file_lacks(tmp_path: Path) -> None:
    environ = {
        "TIDEGATE_ENGINES__B__URL": "http://b",
        "TIDEGATE_ENGINES__B__KIND": "vllm",
        "TIDEGATE_POOLS__MAIN__ENGINES": "a, b",
        "TIDEGATE_LIMITS__BODY": "1MiB",
        "TIDEGATE_POOLS__MAIN__EJECT__FOR": "1m",
        "TIDEGATE_POOLS__MAIN__REQUIRED": "no",
        "TIDEGATE_TELEMETRY__OTLP__HEADERS__AUTHORIZATION": "Bearer x",
    }
    config = loaded(tmp_path, environ=environ)
    pool = config.pools["main"]

    assert config.engines["b"].kind == "vllm"
    assert (pool.engines, pool.eject.for_, pool.required) == (("a", "b"), 60.0, False)
    assert config.limits.body == 1024**2
    assert config.telemetry.otlp.headers["authorization"].get_secret_value() == "Bearer x"


def test_the_whole_configuration_can_come_from_variables(tmp_path: Path) -> None:
    environ = {
        "TIDEGATE_ENGINES__A__URL": "http://a",
        "TIDEGATE_POOLS__MAIN__ENGINES": "a",
        "TIDEGATE_ROUTES__CHAT__MODELS": "*",
        "TIDEGATE_ROUTES__CHAT__POOL": "main",
        "TIDEGATE_ACCESS__ANONYMOUS": "true",
    }

    by_variables = loaded(tmp_path, "", environ)
    by_file = loaded(tmp_path, MINIMAL.replace("http://127.0.0.1:8000", "http://a"))

    assert vars(by_variables) == vars(by_file)  # where it was written differs


def test_a_name_with_a_dash_is_found_by_an_underscore() -> None:
    source, problems = overlay(
        load("engines: {gpu-1: {url: x}}", "f"), {"TIDEGATE_ENGINES__GPU_1__URL": "y"}
    )

    assert source.tree == {"engines": {"gpu-1": {"url": "y"}}}
    assert source.value(("engines", "gpu-1", "url")) == Place("TIDEGATE_ENGINES__GPU_1__URL")
    assert problems == []


def test_the_source_it_was_laid_over_is_not_changed() -> None:
    before = load("a: {b: [x]}", "f")
    overlay(before, {"TIDEGATE_A__B": "y"})

    assert before.tree == {"a": {"b": ["x"]}}


def test_an_empty_section_in_the_file_is_filled() -> None:
    source, problems = overlay(load("engines:", "f"), {"TIDEGATE_ENGINES__A__URL": "y"})

    assert (source.tree, problems) == ({"engines": {"a": {"url": "y"}}}, [])


@pytest.mark.parametrize(
    "name",
    [
        "TIDEGATE_",
        "TIDEGATE_ENGINES",
        "TIDEGATE_ENGINES__",
        "TIDEGATE_ENGINES____A",
        "TIDEGATE_ENGINES__A__URL__X",
        "TIDEGATE_ENGINES__B_C__URL",
    ],
)
def test_a_variable_that_fits_no_single_value_is_a_mistake(name: str) -> None:
    text = "engines: {a: {url: x}, b-c: {url: x}, b_c: {url: x}}"
    _, [problem] = overlay(load(text, "f"), {name: "secret"})

    assert str(problem).startswith(f"{name}: the variable fits no single value, ")
    assert "secret" not in str(problem)


@pytest.mark.parametrize(
    "name",
    [
        "TIDEGATE_CONFIG",
        "TIDEGATE_SERVICE_HOST",
        "TIDEGATE_SERVICE_PORT_HTTP",
        "TIDEGATE_PORT",
        "TIDEGATE_PORT_8080_TCP_ADDR",
        "OTHER",
        "tidegate_engines__a__url",
    ],
)
def test_variables_that_are_not_settings_are_left_alone(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path, environ={name: "tcp://10.0.0.1:80"}) == loaded(tmp_path)


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert loaded(tmp_path, environ={"TIDEGATE_ENGINES__A__URL": ""}) == loaded(tmp_path)


def test_variables_that_hold_credentials_are_left_alone(tmp_path: Path) -> None:
    text = MINIMAL.replace('8000"', '8000", api_key_env: TIDEGATE_KEY_A')  # fmt: skip
    config = loaded(tmp_path, text, {"TIDEGATE_KEY_A": "abc"})
    other = loaded(
        tmp_path,
        environ={"TIDEGATE_ENGINES__A__API_KEY_ENV": "TIDEGATE_KEY_B", "TIDEGATE_KEY_B": "def"},
    )

    assert [c.engines["a"].api_key.get_secret_value() for c in (config, other)  # type: ignore[union-attr]  # set
            ] == ["abc", "def"]  # fmt: skip


def test_a_mistake_in_a_variable_names_the_variable(tmp_path: Path) -> None:
    assert mistakes(
        tmp_path,
        environ={
            "TIDEGATE_ENGINES__A__ULR": "x",
            "TIDEGATE_LISTENERS__MAIN__PORT": "eighty",
            "TIDEGATE_ROUTES__CHAT__POOL": "mian",
        },
    ) == [
        (
            "TIDEGATE_ENGINES__A__ULR: engines.a.ulr is unknown, engines.a has no such key,"
            " did you mean 'url'?"
        ),
        (
            "TIDEGATE_LISTENERS__MAIN__PORT: listeners.main.port is 'eighty', it must be a whole"
            " number, write digits only"
        ),
        (
            "TIDEGATE_ROUTES__CHAT__POOL: routes.chat.pool is 'mian', there is no pool of that"
            " name, did you mean 'main'?"
        ),
    ]


def test_credentials_are_looked_for_in_any_tree() -> None:
    for text in ("engines: 5", "engines: {a: 5}", "engines: {a: {api_key_env: 5}}"):
        assert overlay(load(text, "f"), {})[1] == []
