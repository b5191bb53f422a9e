"""Detectors for all injection tests: the rules take a tenth of a second to compile."""

import pytest

from tidegate.detectors.injection import Injection


@pytest.fixture(scope="session")
def injection() -> Injection:
    """The rules alone."""
    return Injection(Injection.Options(learned=False))


@pytest.fixture(scope="session")
def whole() -> Injection:
    """Rules and classifier, as shipped."""
    return Injection()
