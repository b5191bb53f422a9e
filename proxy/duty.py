"""What is asked of each detector: how long it may take, and what happens where it did not read.

A text was not read where its detector failed or was late.  What then is said for each detector
and direction by the configuration, and for all others by the route's policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..policies import Action
from .config import Detector
from .config import Direction as Settings

UNREAD = frozenset({"error", "timeout"})
"""Verdicts of a detector that did not read everything."""

NEVER = 1 << 63
_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Terms:
    """How one detector reads in one direction."""

    timeout_ns: int = NEVER
    """The longest it may take over one request or answer."""
    on_error: Action | None = None
    """ALLOW, FLAG or BLOCK what was not read; None leaves it to the policy."""


@dataclass(frozen=True, slots=True)
class Duty:
    """One detector's terms."""

    input: Terms = Terms()
    output: Terms = Terms()


Duties = Mapping[str, Duty]
"""By the detector's name; one that is not there has no terms of its own."""

NO_DUTIES: Duties = MappingProxyType({})
USUAL = Duty()


def duties(settings: Mapping[str, Detector]) -> Duties:
    """The duties of all detectors that are configured."""
    return {name: Duty(_terms(one.input), _terms(one.output)) for name, one in settings.items()}


def _terms(settings: Settings) -> Terms:
    timeout, on_error = settings.timeout_ms, settings.on_error
    return Terms(
        timeout * _MS if timeout is not None else NEVER,
        Action[on_error.upper()] if on_error is not None else None,
    )
