"""Token counts where an engine gives none: estimated, and marked as such wherever they appear."""

from collections.abc import Sequence

from ..detectors import Segment
from ..detectors.tokens import estimate_tokens
from .dialects.base import Usage
from .exchange import Exchange


def estimated(x: Exchange, answer: Sequence[Segment]) -> Usage:
    """What a request and these texts of its answer may count, in tokens."""
    asked = x.reading.segments if x.reading is not None else ()
    return Usage(_tokens(asked), _tokens(answer))


def _tokens(segments: Sequence[Segment]) -> int:
    return sum(estimate_tokens(segment.text) for segment in segments)
