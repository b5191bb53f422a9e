"""Configuration files for tests."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tidegate.proxy.config import Config, ConfigError, load

MINIMAL = """\
engines: {a: {url: "http://127.0.0.1:8000"}}
pools: {main: {engines: [a]}}
routes: {chat: {models: ["*"], pool: main}}
access: {anonymous: true}
"""
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def written(folder: Path, text: str) -> Path:
    path = folder / "tidegate.yaml"
    path.write_text(text, "utf-8")
    return path


def loaded(folder: Path, text: str = MINIMAL, environ: Mapping[str, str] = NO_VARIABLES) -> Config:
    return load(written(folder, text), environ)


def mistakes(
    folder: Path, text: str = MINIMAL, environ: Mapping[str, str] = NO_VARIABLES
) -> list[str]:
    """All problems, the folder cut off."""
    with pytest.raises(ConfigError) as caught:
        loaded(folder, text, environ)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]
