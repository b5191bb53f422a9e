"""The heads of the classifier, and how what each one finds is reported."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...segment import Trust


class Report(NamedTuple):
    """Kind and rule of a head's findings; `reason` completes "This text …" for a person."""

    kind: str
    rule: str
    reason: str


CALLER = "caller"
THIRD_PARTY = "third_party"

REPORTS: Mapping[str, Report] = MappingProxyType(
    {
        CALLER: Report(
            "injection.jailbreak",
            "learned.caller",
            "resembles texts that try to take over a model",
        ),
        THIRD_PARTY: Report(
            "injection.indirect",
            "learned.third_party",
            "resembles documents that give orders to a model",
        ),
    }
)
"""By head."""

HEADS = tuple(REPORTS)

HEAD_OF: Mapping[Trust, str] = MappingProxyType(
    {Trust.CALLER: CALLER, Trust.MODEL: CALLER, Trust.THIRD_PARTY: THIRD_PARTY}
)
"""Which head reads whose text.  What a model is said to have written comes from the caller, who
may have made it up.  An operator's text is read by none."""
