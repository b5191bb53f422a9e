from pathlib import Path

from tidegate.detectors.injection import RULES
from tidegate.detectors.injection.learned import REPORTS
from tidegate.detectors.kinds import KINDS
from tidegate.detectors.pii_patterns import PII_PATTERNS
from tidegate.detectors.secret_patterns import SECRET_PATTERNS


def test_every_kind_is_dotted_and_has_a_sentence() -> None:
    for kind, sentence in KINDS.items():
        family, _, name = kind.partition(".")

        assert family in ("pii", "secret", "injection")
        assert name.replace("_", "").isalnum()
        assert sentence.endswith(".")


def test_the_registry_is_exactly_what_the_built_in_detectors_report() -> None:
    reported = {p.kind for p in (*PII_PATTERNS, *SECRET_PATTERNS)} | {r.kind for r in RULES}
    reported |= {report.kind for report in REPORTS.values()}

    assert set(KINDS) == reported


def test_every_kind_is_on_the_page_of_detectors() -> None:
    page = (Path(__file__).parents[2] / "docs" / "detectors.md").read_text(encoding="utf-8")

    for kind, sentence in KINDS.items():
        assert f"| `{kind}` | {sentence.removesuffix('.')}" in page
