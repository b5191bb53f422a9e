"""What the pages tell people to type works: commands parse, configurations and policies load."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs.pages import PAGES, ROOT, fenced, name, shell

from tidegate.detectors.options import Text
from tidegate.detectors.testing import check_detector
from tidegate.policies import Problem
from tidegate.proxy import assembly, cli
from tidegate.proxy.config import load
from tidegate.proxy.detection import load_detectors

README = ROOT / "README.md"
COMMANDS = [(name(page), line) for page in PAGES for line in shell(page)]
WHOLE, *PARTS = fenced(README, "yaml")
(POLICY,) = [part for part in PARTS if part.startswith("version:")]
SECTIONS = [part for part in PARTS if part is not POLICY]


@pytest.mark.parametrize("line", [line for _, line in COMMANDS if line.startswith("make")])
def test_make_has_the_target(line: str) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert [word for word in line.split()[1:] if "=" not in word and word not in targets] == []


@pytest.mark.parametrize("line", [line for _, line in COMMANDS if not line.startswith("make")])
def test_the_command_line_takes_the_command(line: str) -> None:
    words = shlex.split(line.partition(" < ")[0])

    assert cli._parser().parse_args(words[1:]).run


def test_the_readme_shows_the_two_commands_first() -> None:
    commands = [line for page, line in COMMANDS if page == "README.md"]

    assert commands[:2] == ["make demo", "make test"]


def test_the_configuration_of_the_readme_loads_without_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "tidegate.yaml"
    file.write_text(WHOLE)

    assert load(file, {}).warnings == ()


def test_the_further_parts_of_the_readme_fit_into_its_configuration(tmp_path: Path) -> None:
    file = tmp_path / "tidegate.yaml"
    document = yaml.safe_load(WHOLE)
    for section in SECTIONS:
        document |= yaml.safe_load(section)
    file.write_text(yaml.safe_dump(document))
    (tmp_path / "support.yaml").write_text(POLICY)
    config = load(file, {})

    assert config.warnings == ()
    assert list(assembly.load_policies(config, load_detectors())) == ["default"]


def test_the_policy_of_the_readme_passes_its_own_tests(tmp_path: Path) -> None:
    file = tmp_path / "support.yaml"
    file.write_text(POLICY)
    warned: list[Problem] = []
    tests = assembly.test_policy(str(file), load_detectors(), warned.append)

    assert POLICY.count("- name:") == tests
    assert warned == []


@pytest.mark.parametrize("file", sorted((ROOT / "deploy").glob("*.example.yaml")), ids=name)
def test_example_configurations_load_without_a_warning(file: Path) -> None:
    assert load(file, {}).warnings == ()


def test_the_detector_of_the_page_is_one(tmp_path: Path) -> None:
    (program,) = fenced(ROOT / "docs" / "detectors.md", "python")
    made: dict[str, Any] = {}
    exec(program, made)  # noqa: S102 - the point of the test
    names = made["Names"]
    names_file = Text("names", "Acme\nBolt")

    check_detector(names(names.Options(file=names_file)), ["sold to Bolt and Acme"])


def test_the_readme_program_is_python() -> None:
    (program,) = fenced(README, "python")

    assert isinstance(ast.parse(program), ast.Module)
