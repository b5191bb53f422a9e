"""The bounds."""

import pytest
from pydantic import ValidationError

from tidegate.proxy.config import Limits


def test_limits_are_read_with_their_units() -> None:
    limits = Limits.model_validate({"body": "1MiB", "stall_timeout": "2m", "drain": 0})

    assert (limits.body, limits.stall_timeout, limits.drain) == (1024**2, 120.0, 0.0)


@pytest.mark.parametrize(
    "change", [{"json_depth": 3}, {"body": 0}, {"connect_timeout": 0}, {"x": 1}]
)
def test_useless_limits_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(change)
