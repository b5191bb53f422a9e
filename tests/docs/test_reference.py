"""Whatever can be typed, configured, seen or met is described in docs/."""

import argparse
import re
from collections.abc import Iterator

import pytest
from tests.docs.pages import ROOT

from tidegate.detectors.kinds import KINDS
from tidegate.policies import library
from tidegate.proxy import cli
from tidegate.proxy.config import Limits
from tidegate.telemetry import names

DOCS = ROOT / "docs"
OPERATIONS = (DOCS / "operations.md").read_text()
METRICS = [value for value in vars(names).values() if isinstance(value, names.Metric)]


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands that can be run."""
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for command in group.choices.values():
            yield from commands(command)


LEAVES = list(commands(cli._parser()))
OPTIONS = {
    option
    for command in LEAVES
    for action in command._actions
    for option in action.option_strings
    if option not in ("-h", "--help")
}


@pytest.mark.parametrize("command", [command.prog for command in LEAVES])
def test_every_command_has_its_exit_status_in_the_operations_page(command: str) -> None:
    assert re.search(rf"^\| `{command}[ `].* \| .*\d.* \|$", OPERATIONS, re.MULTILINE)


@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_every_option_is_in_the_operations_page(option: str) -> None:
    assert re.search(rf"^\| .*`{option}[ `]", OPERATIONS, re.MULTILINE)


@pytest.mark.parametrize("limit", Limits.model_fields)
def test_the_operations_page_says_what_happens_beyond_every_limit(limit: str) -> None:
    assert re.search(rf"^\| `limits\.{limit}` \| .+ \|$", OPERATIONS, re.MULTILINE)


@pytest.mark.parametrize("metric", [metric.name for metric in METRICS])
def test_every_metric_is_in_the_telemetry_page(metric: str) -> None:
    page = (DOCS / "telemetry.md").read_text()

    assert re.search(rf"^\| `{metric}(?:_total)?` \|", page, re.MULTILINE)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_is_in_the_detectors_page(kind: str) -> None:
    assert f"| `{kind}` |" in (DOCS / "detectors.md").read_text()


@pytest.mark.parametrize("pack", library.names())
def test_every_pack_is_in_the_policies_page(pack: str) -> None:
    assert f"`{pack}`" in (DOCS / "policies.md").read_text()
