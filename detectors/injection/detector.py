"""The injection detector: rules and a classifier over a text as it looks, and what it hides.

RE2's Filter knows which literals each rule cannot do without and looks for all of them in one
pass; only rules whose literals are there are run, alone, for their spans.  (A Set over the rules
themselves gives the same answer twenty times slower: their gaps multiply its states.)  Encoded
layers are asked in the same way.  All matching of untrusted text is by RE2, so it is linear.

The learned classifier reads the same views, by the head for who speaks (`learned.heads`).
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import re2

from ..finding import Finding
from ..gate import Gate, LiteralGate
from ..gate import options as automaton
from ..normalize import Normalized, skeleton
from ..options import Options as Base
from ..options import TextFile
from ..segment import Segment, Source, Trust
from ..unwrap import TRIGGERS, unwrap
from .learned import HEAD_OF, REPORTS, Calibration, Classifier, loads
from .markers import hidden
from .rule import Rule
from .rules import RULES

_UNLESS_REACH = 40
"""Characters before a match in which `unless` is looked for."""

_MOST_PER_RULE = 8
"""Spans reported for one rule in one layer: the first tells all a policy needs."""

_WINDOW = 2048
_STEP = 1408
"""Bytes.  A long text is read in windows that overlap: the longer a text, the more rules have all
their literals somewhere in it.  So a match of over _WINDOW - _STEP bytes may be missed."""

_MEMORY = 16 << 20
"""Bytes RE2 may spend on one automaton."""

_QUOTES = "\"'`\u201c\u2018\u300c\u300e*"
_DISCUSSION = (  # words of a text about attacks
    r"(?i)\b(?:prompt[- ]injections?|jail-?break(?:s|ing)?|injection attacks?|red[- ]team\w*"
    r"|attackers?|phrases?|payloads?|for example|examples?|such as|e\.g\.|what does|classif\w+"
    r"|detect\w*|defen[cs]e|mean[s]?)\b|提示词?注入|越狱|攻击|例如|比如|什么意思|检测|防御"
)
_MENTION_SHARE = 0.5

_LEAST = 0.4
"""What the classifier reports: what fewer than 1 in 40 benign texts reach."""


class Injection:
    """Finds prompt injection and jailbreak attempts.  Stateless; safe to use from any thread.

    An operator's text is never reported: giving orders to the model is his part.
    """

    class Options(Base):
        """What an operator can set."""

        learned: bool = True
        """Whether the learned classifier is asked."""
        calibration: TextFile | None = None
        """The classifier's calibration on the operator's own benign traffic, as JSON."""

    def __init__(
        self, options: "Injection.Options | None" = None, rules: Sequence[Rule] = RULES
    ) -> None:
        given = options or Injection.Options()
        self.name = "injection"
        self._classifier = _classifier(given) if given.learned else None
        self.version = _version(given, self._classifier)
        self.kinds = frozenset(rule.kind for rule in rules) | {"injection.hidden_text"}
        if self._classifier:
            self.kinds |= {report.kind for report in REPORTS.values()}
        self._rules = tuple(rules)
        self._filters = {trust: _Filter(rules, trust) for trust in Trust}
        self._triggers = Gate(TRIGGERS, _MEMORY)
        self._exact = [_compiled(rule.pattern.encode()) for rule in rules]
        self._unless = [_compiled(rule.unless) if rule.unless else None for rule in rules]
        self._discussion = _compiled(_DISCUSSION.encode())

    def find(self, segment: Segment) -> list[Finding]:
        """All findings that start at or after `segment.start`, sorted by start, then end."""
        if segment.trust is Trust.OPERATOR:
            return []
        view = skeleton(segment.text)
        found = [] if view.text is segment.text else hidden(segment.text)
        data = view.text.encode("utf-8", "replace")
        found += self._spans(view, data, segment.trust)
        found += self._learned(view, segment)
        if self._triggers.hits(data):
            found += self._layers(view, segment.trust)
        if not found:
            return []
        kept = [finding for finding in found if finding.start >= segment.start]
        return sorted(kept, key=lambda f: (f.start, f.end, f.rule, f.layer))

    def _spans(self, view: Normalized, data: bytes, trust: Trust) -> list[Finding]:
        found: list[Finding] = []
        for window in _windows(len(data)):
            for index in self._filters[trust].candidates(data[window.start : window.stop]):
                rule = self._rules[index]
                for start, end, score in self._matches(index, data, window):
                    first, last = start, end
                    if len(data) != len(view.text):  # RE2 counts bytes
                        first = len(data[:start].decode("utf-8"))
                        last = first + len(data[start:end].decode("utf-8"))
                    found.append(Finding(rule.kind, *view.span(first, last), score, rule.id))
        return found

    def _matches(self, index: int, data: bytes, window: range) -> list[tuple[int, int, float]]:
        """Up to _MOST_PER_RULE matches that start in the window's own part, with their score."""
        rule, unless = self._rules[index], self._unless[index]
        own = window.stop if window.stop == len(data) else window.start + _STEP
        found: list[tuple[int, int, float]] = []
        for match in self._exact[index].finditer(data, window.start, window.stop):
            start, end = match.span()
            if start >= own or len(found) == _MOST_PER_RULE:
                break
            before = data[max(0, start - _UNLESS_REACH) : start].decode("utf-8", "ignore")
            if unless is not None and unless.search(before):
                continue
            is_quoted = before.rstrip()[-1:] in _QUOTES and len(before.strip()) > 1
            is_mention = rule.quotable and is_quoted and self._discussion.search(data) is not None
            found.append((start, end, rule.score * (_MENTION_SHARE if is_mention else 1)))
        return found

    def _learned(self, view: Normalized, segment: Segment) -> list[Finding]:
        """The classifier's finding, if it has one: it begins where the segment does, or later."""
        head = HEAD_OF[segment.trust]
        verdict = self._classifier and self._classifier.judge(view.text, head, _LEAST)
        if not verdict:
            return []
        start, end = view.span(verdict.start, verdict.end)
        if end <= segment.start:
            return []
        report = REPORTS[head]
        start = max(start, segment.start)
        return [Finding(report.kind, start, end, verdict.score, report.rule)]

    def _layers(self, view: Normalized, trust: Trust) -> list[Finding]:
        found: list[Finding] = []
        for layer in unwrap(view.text):
            inner = skeleton(layer.text)
            data = inner.text.encode("utf-8", "replace")
            span = view.span(layer.start, layer.end)
            best: dict[str, Finding] = {}
            whole = Segment(inner.text, (), Source.USER, trust)
            for finding in (*self._spans(inner, data, trust), *self._learned(inner, whole)):
                known = best.get(finding.rule)
                if known is None or known.score < finding.score:
                    best[finding.rule] = Finding(
                        finding.kind, *span, finding.score, finding.rule, layer.name
                    )
            found += best.values()
        return found


class _Filter:
    """The rules that one trust is asked, behind RE2's Filter."""

    def __init__(self, rules: Sequence[Rule], trust: Trust) -> None:
        self._indexes = [index for index, rule in enumerate(rules) if trust in rule.trusts]
        self._gate = LiteralGate([rules[index].pattern for index in self._indexes], _MEMORY)

    def candidates(self, data: bytes) -> list[int]:
        """The rules that may match the UTF-8 text, in order; every rule that matches is there."""
        return [self._indexes[at] for at in self._gate.hits(data)]


def _windows(size: int) -> Iterator[range]:
    """The parts of a text of that many bytes that rules are asked of, left to right."""
    start = 0
    while start + _WINDOW < size:
        yield range(start, start + _WINDOW)
        start += _STEP
    yield range(start, size)


def _compiled(expression: str | bytes) -> Any:
    return re2.compile(expression, automaton(_MEMORY))


def _classifier(given: Injection.Options) -> Classifier:
    shipped = Classifier()
    if given.calibration is None:
        return shipped
    return Classifier(calibration=_calibration(given.calibration.text, shipped.version))


def _calibration(text: str, classifier: str) -> Calibration:
    try:
        return loads(text, classifier)
    except ValueError as error:
        raise ValueError(f"the calibration cannot be used: {error}") from error


def _version(given: Injection.Options, classifier: Classifier | None) -> str:
    """Names what findings depend on: the rules, the weights and an operator's calibration."""
    parts = ["2", classifier.version if classifier else "rules"]
    if classifier and given.calibration:
        parts.append(sha256(given.calibration.text.encode()).hexdigest()[:8])
    return "-".join(parts)
