"""Engines for the tests of this folder."""

from typing import Any

from yarl import URL

from tidegate.proxy.engines import Engine


def engine(
    name: str = "a", url: str = "http://127.0.0.1:8000/", kind: str = "openai", **more: Any
) -> Engine:
    return Engine(name, kind, URL(url), **more)
