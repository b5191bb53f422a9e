"""The packs."""

import pytest

from tidegate.detectors import Finding, Segment
from tidegate.detectors.injection import Injection
from tidegate.detectors.kinds import KINDS
from tidegate.detectors.pii_patterns import PII_PATTERNS
from tidegate.detectors.scanner import Scanner
from tidegate.detectors.secret_patterns import SECRET_PATTERNS
from tidegate.policies import (
    Action,
    Direction,
    Kinds,
    compile_policy,
    library,
    load_policy,
    unseen,
)


def test_the_packs_are_listed() -> None:
    assert library.names() == ("default", "monitor", "strict")


@pytest.mark.parametrize("name", library.names())
def test_each_pack_compiles_under_its_name_and_brings_tests(name: str) -> None:
    made = compile_policy(library.text(name), f"{name}.yaml", KINDS)

    assert name == made.policy.name
    # these fire on doubtful texts only, which move with the detectors
    assert {rule.id for rule in made.policy.rules} - {case.rule for case in made.cases} <= {
        "injection-flag",
        "learned-flag",
    }


@pytest.mark.parametrize("name", library.names())
def test_each_pack_passes_its_own_tests_with_the_real_detectors(name: str) -> None:
    injection, scanner = Injection(), Scanner((*PII_PATTERNS, *SECRET_PATTERNS))

    def find(segment: Segment, direction: Direction) -> list[Finding]:
        inputs_only = injection.find(segment) if direction is Direction.INPUT else []
        return inputs_only + scanner.find(segment)

    kinds = Kinds(KINDS, KINDS, scanner.kinds)
    loaded = load_policy(library.text(name), f"{name}.yaml", kinds, find)

    assert loaded.policy.name == name
    assert list(unseen(loaded, kinds)) == []


def test_only_the_monitor_pack_lets_uninspected_text_through() -> None:
    compiled = {n: compile_policy(library.text(n), n, KINDS).policy for n in library.names()}

    assert {name: policy.on_error for name, policy in compiled.items()} == {
        "default": Action.BLOCK,
        "monitor": Action.ALLOW,
        "strict": Action.BLOCK,
    }
    assert set() == compiled["monitor"].kinds(Direction.INPUT, Action.REDACT)


@pytest.mark.parametrize("name", ["", "none", "../default", "default.yaml"])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(KeyError):
        library.text(name)
