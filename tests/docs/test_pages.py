"""The pages say only what is so: links lead somewhere, what is named is there."""

import re
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, anchors, name

FOLDERS = ("proxy", "policies", "detectors", "telemetry", "audit")


def broken(page: Path) -> list[str]:
    """Links of a page that lead to no file, or to no heading of it."""
    found = []
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text()):
        if "://" in target:
            continue
        file = page if not target else page.parent / target
        if not file.exists() or (anchor and anchor not in anchors(file)):
            found.append(f"{target}#{anchor}")
    return found


def named(page: Path) -> list[str]:
    """Paths into the tree, in code type, without wild cards."""
    folders = "|".join((*FOLDERS, "docs", "tests", "deploy"))
    return re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    assert broken(page) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_paths_that_are_named_are_there(page: Path) -> None:
    assert [path for path in named(page) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_lines_can_be_read_on_any_screen(page: Path) -> None:
    rows = [line for line in page.read_text().splitlines() if not line.startswith(("|", " ", "`"))]

    assert [row for row in rows if len(row) > 115 and "](" not in row] == []


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_every_page_is_linked_from_another(folder: str) -> None:
    text = "".join(page.read_text() for page in PAGES)
    pages = (page for page in (ROOT / folder).glob("*.md") if page.name != "README.md")

    assert [p.name for p in pages if not re.search(rf"\]\([^)]*{p.name}[)#]", text)] == []


def test_the_map_lists_just_the_files_of_the_proxy() -> None:
    part = (ROOT / "ARCHITECTURE.md").read_text().partition("\nproxy/ ")[2].partition("\ndet")[0]
    files = (path.relative_to(ROOT / "proxy") for path in (ROOT / "proxy").rglob("*.py"))
    listed = re.findall(r"^  ([\w/]+\.py) ", part, re.MULTILINE)

    assert sorted(listed) == sorted(str(f) for f in files if not f.name.startswith("__"))


def test_decisions_are_numbered_from_one_and_tell_context_decision_and_consequences() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    wanted = ["## Context", "## Decision", "## Consequences"]

    assert [page.name[:4] for page in pages] == [f"{n:04}" for n in range(1, len(pages) + 1)]
    for page in pages:
        assert page.read_text().startswith(f"# {page.name[:4]}: ")
        assert re.findall(r"^## .*$", page.read_text(), re.MULTILINE) == wanted


def test_every_dependency_has_its_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    block = project.partition("\ndependencies = [")[2].partition("\n]")[0]
    packages = re.findall(r'^  "([\w-]+)', block, re.MULTILINE)
    page = (ROOT / "docs" / "decisions" / "0007-base-dependencies.md").read_text().lower()
    page = page.replace(", -exporter-otlp", ", opentelemetry-exporter-otlp")

    assert packages
    assert [package for package in packages if package not in page] == []


def test_the_page_for_agents_is_at_most_forty_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 40
