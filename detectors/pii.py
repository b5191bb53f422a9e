"""Personal data: the pattern bundle behind presidio-analyzer, behind a cheap gate.

A text in which the scanner finds nothing never reaches Presidio: the one recognizer there is the
scanner itself, so nothing can be missed, and Presidio costs ten times what the scanner does.
"""

from collections.abc import Sequence

from .finding import Finding
from .normalize import normalize
from .pattern import Pattern
from .pii_patterns import PII_PATTERNS
from .scanner import Scanner
from .segment import Segment


class PII:
    """Finds personal data.  Stateless once made; safe to use from any thread.

    Making one imports presidio-analyzer and with it spaCy (about a second, once a process), so a
    server makes its detectors before it listens and no request waits for that.
    """

    def __init__(self, patterns: Sequence[Pattern] = PII_PATTERNS) -> None:
        from .presidio import Analyzer  # noqa: PLC0415 - costs a second; `--help` must not pay

        self.name = "pii"
        self.version = "1"
        self.scanner = Scanner(patterns)
        """The patterns, for whoever follows them through a stream."""
        self.kinds = self.scanner.kinds
        self._analyzer = Analyzer(self.scanner)

    def find(self, segment: Segment) -> list[Finding]:
        """All findings that start at or after `segment.start`, sorted by start, then end."""
        view = normalize(segment.text)
        whole = Segment(view.text, segment.where, segment.source, segment.trust)
        seen = self.scanner.find(whole)
        if not seen:
            return []
        found = self._analyzer.find(view.text, seen)
        if not view.is_identity:
            found = [
                Finding(f.kind, *view.span(f.start, f.end), f.score, f.rule, f.layer)
                for f in found
            ]
        kept = [finding for finding in found if finding.start >= segment.start]
        return sorted(kept, key=lambda f: (f.start, f.end, f.rule))
