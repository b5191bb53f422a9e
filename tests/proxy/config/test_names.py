"""Which route serves a model, and which names overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.proxy.config import ModelNames, Route
from tidegate.proxy.config.names import matches, overlap


def route(*models: str, paths: tuple[str, ...] | None = None) -> Route:
    return Route(models=models, pool="p", paths=paths)


NAMES = ModelNames(
    {
        "any": route("*"),
        "gpt": route("gpt-*", "exact"),
        "gpt4": route("gpt-4-*"),
        "plain": route("gpt-4-mini"),
        "embed": route("e-*", paths=("/v1/embeddings",)),
    }
)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4-mini", "plain"),
        ("gpt-4-x", "gpt4"),
        ("gpt-5", "gpt"),
        ("exact", "gpt"),
        ("GPT-5", "any"),
        ("", "any"),
        ("e-1", "any"),
    ],
)
def test_the_narrowest_name_wins(model: str, name: str) -> None:
    assert NAMES.route(model, "/v1/chat/completions") == name


def test_a_route_may_serve_some_paths_only() -> None:
    assert NAMES.route("e-1", "/v1/embeddings") == "embed"


def test_a_model_no_route_serves_has_none() -> None:
    assert ModelNames({"a": route("x")}).route("y", "/") is None


def test_only_the_star_is_special() -> None:
    assert matches("a[b]?x", "a[b]?*")
    assert not matches("abcx", "a[b]?*")
    assert matches("a?", "a?")


@pytest.mark.parametrize(
    ("a", "b", "clash"),
    [
        ("x", "x", True),
        ("x", "y", False),
        ("gpt-*", "gpt-4", False),
        ("gpt-*", "gpt-4-*", False),
        ("gpt-*", "*-mini", True),
        ("a*", "b*", False),
        ("a*b", "a*c", False),
        ("a*b*", "*b*a", True),
    ],
)
def test_names_overlap_if_neither_is_narrower(a: str, b: str, *, clash: bool) -> None:
    assert overlap(a, b) == clash
    assert overlap(b, a) == clash


GLOBS = st.text("ab*", min_size=1, max_size=4)


@given(GLOBS, GLOBS, st.text("ab", max_size=6))
def test_a_name_that_fits_both_proves_an_overlap_or_a_nesting(a: str, b: str, name: str) -> None:
    if matches(name, a) and matches(name, b):
        assert overlap(a, b) or matches(a, b) or matches(b, a) or "*" not in a + b
