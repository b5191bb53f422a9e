"""docs/errors.md names every error a client can get, with its status, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.proxy import errors

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "errors.md"
FAMILY = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.ProxyError)
}
PASSED_ON = "4xx"
"""A status that is not written in the source: the engine's own."""


def raised(source: str) -> Iterator[tuple[str, str]]:
    """Code and status of each error of the family that a source file makes."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        kind = FAMILY.get(node.func.id)
        if kind is None or not node.args:
            continue
        code = node.args[0]
        assert isinstance(code, ast.Constant), "an error's code is written where it is raised"
        given = [k.value for k in node.keywords if k.arg == "status"]
        status = str(kind.status)
        if given:
            status = str(given[0].value) if isinstance(given[0], ast.Constant) else PASSED_ON
        yield str(code.value), status


def listed(heading: str) -> list[tuple[str, str]]:
    """Code and status of each row of a part of the page."""
    part = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| (\w+) \|", part, re.MULTILINE)


def test_the_page_lists_just_the_errors_that_are_raised() -> None:
    found = {
        error
        for path in sorted((ROOT / "proxy").rglob("*.py"))
        for error in raised(path.read_text())
    }

    assert sorted(listed("All codes")) == sorted(found)


@pytest.mark.parametrize("name", FAMILY)
def test_types_and_outcomes_of_the_family_are_named(name: str) -> None:
    page = PAGE.read_text()

    assert f"`{FAMILY[name].kind}`" in page
    assert f"`{FAMILY[name].outcome}`" in page
