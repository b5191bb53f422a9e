"""presidio-analyzer as Tidegate uses it: its API and result rules, our patterns inside.

AnalyzerEngine runs on the no-op NLP engine with one recognizer, which wraps a Scanner.  Presidio's
own recognizers are not loaded: they miss text next to Chinese characters, run one by one, and
take milliseconds.  Recognizers of a user's own can be put beside ours in the registry.

Importing this module imports spaCy, which takes about a second, so only `pii.PII` does it, when
it is made.  It does no network or file access after that.
"""

from collections.abc import Sequence

from presidio_analyzer import (
    AnalyzerEngine,
    ContextAwareEnhancer,
    EntityRecognizer,
    RecognizerRegistry,
    RecognizerResult,
)
from presidio_analyzer.nlp_engine import NoOpNlpEngine

from .finding import Finding
from .scanner import Scanner
from .segment import Segment, Source, Trust

LANGUAGE = "en"
"""Presidio wants one.  Our patterns are asked whatever the language of the text."""

ENTITIES = {
    "pii.email": "EMAIL_ADDRESS",
    "pii.card": "CREDIT_CARD",
    "pii.iban": "IBAN_CODE",
    "pii.phone": "PHONE_NUMBER",
    "pii.us_ssn": "US_SSN",
    "pii.cn_id": "CN_ID",
}
"""Our kinds by Presidio's names."""

_RULE = "tidegate_rule"
_KIND = "tidegate_kind"
_FOUND = "tidegate_found"


class ScannerRecognizer(EntityRecognizer):
    """All patterns of a Scanner as one recognizer."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        super().__init__(
            supported_entities=sorted(entity_of(kind) for kind in scanner.kinds),
            name="tidegate",
            supported_language=LANGUAGE,
        )

    def load(self) -> None:
        """Do nothing: the scanner is compiled."""

    def analyze(
        self, text: str, entities: Sequence[str], nlp_artifacts: object
    ) -> list[RecognizerResult]:
        """Presidio's results for all findings of the entities asked for.

        What `Analyzer` was told of comes with the artifacts and is not looked for again.
        """
        found = getattr(nlp_artifacts, _FOUND, None)
        if found is None:
            segment = Segment(text, (), Source.DOCUMENT, Trust.THIRD_PARTY)
            found = self._scanner.find(segment)
        return [
            RecognizerResult(
                entity_of(finding.kind),
                finding.start,
                finding.end,
                finding.score,
                recognition_metadata={_RULE: finding.rule, _KIND: finding.kind},
            )
            for finding in found
            if entity_of(finding.kind) in entities
        ]


class _AsFound(ContextAwareEnhancer):
    """No context but the patterns' own.  Presidio's default copies every result, deeply."""

    def __init__(self) -> None:
        super().__init__(0, 0, 0, 0)

    def enhance_using_context(
        self, text: str, raw_results: list[RecognizerResult], *others: object, **named: object
    ) -> list[RecognizerResult]:
        """Presidio's results as they are."""
        del text, others, named
        return raw_results


class Analyzer:
    """A Presidio engine over one scanner."""

    def __init__(self, scanner: Scanner) -> None:
        registry = RecognizerRegistry(
            recognizers=[ScannerRecognizer(scanner)], supported_languages=[LANGUAGE]
        )
        engine = NoOpNlpEngine(models=[{"lang_code": LANGUAGE, "model_name": "no_op"}])
        engine.load()
        self._nlp = engine
        self._engine = AnalyzerEngine(
            registry=registry,
            nlp_engine=engine,
            supported_languages=[LANGUAGE],
            context_aware_enhancer=_AsFound(),
        )

    def find(self, text: str, found: Sequence[Finding]) -> list[Finding]:
        """What Presidio makes of what the scanner found in the text, in no order."""
        artifacts = self._nlp.process_text(text, LANGUAGE)
        setattr(artifacts, _FOUND, found)
        return [
            Finding(
                result.recognition_metadata[_KIND],
                result.start,
                result.end,
                result.score,
                result.recognition_metadata[_RULE],
            )
            for result in self._engine.analyze(text, LANGUAGE, nlp_artifacts=artifacts)
        ]


def entity_of(kind: str) -> str:
    """Presidio's name for a kind of ours."""
    return ENTITIES.get(kind) or kind.removeprefix("pii.").upper()
