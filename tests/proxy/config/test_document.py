"""The models of the configuration."""

import pytest
from pydantic import ValidationError

from tidegate.policies.problem import Place, Problem
from tidegate.policies.source import Source
from tidegate.proxy.config import AccessKeys, Config, Eject

SMALL = {
    "engines": {"a": {"url": "http://a"}},
    "pools": {"p": {"engines": "a"}},
    "routes": {"r": {"models": "m", "pool": "p"}},
}


@pytest.mark.parametrize(
    ("written", "enabled"),
    [(True, True), (False, False), ("true", True), ({}, False), ({"enabled": "on"}, True)],
)
def test_anonymous_has_a_short_form(written: object, *, enabled: bool) -> None:
    assert AccessKeys.model_validate({"anonymous": written}).anonymous.enabled is enabled


def test_nobody_is_anonymous_by_default() -> None:
    assert not AccessKeys().anonymous.enabled


def test_the_time_out_of_a_pool_is_called_for() -> None:
    assert Eject.model_validate({"for": "10s"}).for_ == 10.0


@pytest.mark.parametrize("section", ["engines", "pools", "routes", "listeners", "policies"])
def test_sections_of_named_things_must_not_be_empty(section: str) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate(SMALL | {section: {}})


def test_warnings_are_carried_by_a_copy() -> None:
    config, odd = Config.model_validate(SMALL), Problem("f", 1, 1, "a", "b", "c")

    read = config.read_from(Source("f", {}, {}, {(): Place("f", 1, 1)}), (odd,))

    assert read.warnings == (odd,)
    assert read.source.key(("detectors",)) == Place("f", 1, 1)
    assert (config.warnings, config.source.file) == ((), "")


def test_maps_cannot_be_changed() -> None:
    config = Config.model_validate(SMALL)
    with pytest.raises(TypeError):
        del config.routes["r"]  # type: ignore[attr-defined]  # the point of the test

    assert list(config.routes) == ["r"]
