"""Secrets: keys and tokens that name their issuer, and private keys.

Not here: bare high-entropy strings and `password = …` assignments, which are mostly hashes and
examples in a conversation.  Nothing is verified over a network.
"""

from collections.abc import Sequence

from .finding import Finding
from .normalize import normalize
from .pattern import Pattern
from .scanner import Scanner
from .secret_patterns import SECRET_PATTERNS
from .segment import Segment


class Secrets:
    """Finds secrets.  Stateless; safe to use from any thread."""

    def __init__(self, patterns: Sequence[Pattern] = SECRET_PATTERNS) -> None:
        self.name = "secrets"
        self.version = "1"
        self.scanner = Scanner(patterns)
        """The patterns, for whoever follows them through a stream."""
        self.kinds = self.scanner.kinds

    def find(self, segment: Segment) -> list[Finding]:
        """All findings that start at or after `segment.start`, sorted by start, then end."""
        view = normalize(segment.text)
        if view.is_identity and view.text is segment.text:
            return self.scanner.find(segment)
        whole = Segment(view.text, segment.where, segment.source, segment.trust)
        found = [
            Finding(f.kind, *view.span(f.start, f.end), f.score, f.rule, f.layer)
            for f in self.scanner.find(whole)
        ]
        return [finding for finding in found if finding.start >= segment.start]
