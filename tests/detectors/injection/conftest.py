"""One detector for all injection tests: its rules take a tenth of a second to compile."""

import pytest

from tidegate.detectors.injection import Injection


@pytest.fixture(scope="session")
def injection() -> Injection:
    return Injection()
