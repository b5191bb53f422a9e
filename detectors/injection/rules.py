"""All rules, in one table, and the reasons a person is given.

Rules are data: `english`, `chinese`, `third_party` and `markers` hold them by language and place.
"""

from collections.abc import Mapping
from types import MappingProxyType

from .chinese import CHINESE
from .english import ENGLISH
from .learned import REPORTS
from .markers import HIDDEN_REASONS, MARKERS
from .rule import Rule
from .third_party import THIRD_PARTY

RULES: tuple[Rule, ...] = (*MARKERS, *ENGLISH, *THIRD_PARTY, *CHINESE)
"""Every rule that is an expression."""

REASONS: Mapping[str, str] = MappingProxyType(
    {rule.id: rule.reason for rule in RULES}
    | dict(HIDDEN_REASONS)
    | {report.rule: report.reason for report in REPORTS.values()}
)
"""By rule id, what completes "This text …"."""
