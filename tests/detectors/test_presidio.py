from tidegate.detectors import Finding, Segment, Source, Trust
from tidegate.detectors.pii_patterns import PII_PATTERNS
from tidegate.detectors.presidio import ENTITIES, Analyzer, ScannerRecognizer, entity_of
from tidegate.detectors.scanner import Scanner

TEXT = "a@b.com, 4111 1111 1111 1111"


def test_analyzer_returns_findings_of_our_kinds_and_rules() -> None:
    scanner = Scanner(PII_PATTERNS)
    seen = scanner.find(Segment(TEXT, (), Source.USER, Trust.CALLER))
    found = Analyzer(scanner).find(TEXT, seen)

    assert {
        Finding("pii.email", 0, 7, 0.95, "pii.email.address"),
        Finding("pii.card", 9, 28, 0.95, "pii.card.sixteen"),
    } == set(found)


def test_recognizer_speaks_presidios_names_and_keeps_to_the_entities_asked() -> None:
    recognizer = ScannerRecognizer(Scanner(PII_PATTERNS))
    results = recognizer.analyze(TEXT, ["CREDIT_CARD"], None)

    assert sorted(ENTITIES.values()) == sorted(recognizer.supported_entities)
    assert [(r.entity_type, r.start, r.end) for r in results] == [("CREDIT_CARD", 9, 28)]


def test_kind_without_a_name_of_presidio_gets_one() -> None:
    assert entity_of("pii.plate") == "PLATE"


def test_what_the_scanner_has_found_is_not_looked_for_again() -> None:
    finding = Finding("pii.email", 0, 3, 0.5, "told")

    assert Analyzer(Scanner(PII_PATTERNS)).find(TEXT, [finding]) == [finding]
