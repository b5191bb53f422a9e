"""Fixtures that every folder of tests may use."""

from collections.abc import AsyncIterator

import pytest_asyncio
from tests.fakes.engine import FakeEngine


@pytest_asyncio.fixture
async def fake_engine() -> AsyncIterator[FakeEngine]:
    """A fake engine that listens on a free port; a test wanting two makes the second itself."""
    async with FakeEngine() as engine:
        yield engine
