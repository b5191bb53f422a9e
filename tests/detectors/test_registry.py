from importlib.metadata import EntryPoint

import pytest

from tidegate.detectors.registry import GROUP, load
from tidegate.detectors.secrets import Secrets


def _entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, GROUP)


SECRETS = _entry("secrets", "tidegate.detectors.secrets:Secrets")
MISSING = _entry("broken", "no_such_package_anywhere:Detector")


def test_named_detector_is_made() -> None:
    made = load(["secrets"], [SECRETS])

    assert list(made) == ["secrets"]
    assert isinstance(made["secrets"], Secrets)


def test_built_in_detectors_are_installed() -> None:
    assert list(load(["secrets", "injection", "secrets"])) == ["secrets", "injection"]


def test_detector_that_is_not_named_is_not_imported() -> None:
    assert load([], [MISSING]) == {}
    assert list(load(["secrets"], [SECRETS, MISSING])) == ["secrets"]


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'pi' is not known; installed are: broken, secrets"):
        load(["pi"], [SECRETS, MISSING])
    with pytest.raises(ValueError, match="installed are: none"):
        load(["pi"], [])


def test_name_claimed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="claimed by several packages"):
        load(["secrets"], [SECRETS, _entry("secrets", "evil:Secrets")])


def test_same_entry_seen_twice_is_one() -> None:
    assert list(load(["secrets"], [SECRETS, SECRETS])) == ["secrets"]


def test_detector_under_a_wrong_name_is_refused() -> None:
    with pytest.raises(ValueError, match="calls itself 'secrets'"):
        load(["other"], [_entry("other", "tidegate.detectors.secrets:Secrets")])
