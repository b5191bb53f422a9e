"""The pages at the root say only what is so: links lead somewhere, examples load."""

import re
from pathlib import Path

import pytest

from tidegate.proxy.config import load

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("*.md"))


def linked(page: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    return [target for target in targets if "://" not in target]


def named(page: Path) -> list[str]:
    """Paths into the five folders, in code type, without wild cards."""
    found = re.findall(
        r"`((?:proxy|policies|detectors|telemetry|audit|docs|tests)/[\w./-]+)`", page.read_text()
    )
    return [path for path in found if "NNNN" not in path]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    assert [target for target in linked(page) if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_that_are_named_are_there(page: Path) -> None:
    assert [path for path in named(page) if not (ROOT / path).exists()] == []


def test_the_configuration_of_the_readme_loads_without_a_warning(tmp_path: Path) -> None:
    (written,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    file = tmp_path / "tidegate.yaml"
    file.write_text(written)

    assert load(file, {}).warnings == ()


def test_the_page_for_agents_is_at_most_forty_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 40
