"""Screens one answer by its route's policy: streams through HoldBacks, whole bodies at once.

Both ways ask the same patterns and the same policy, so they find the same.
"""

import time
from collections.abc import Sequence

import structlog

from ..detectors import Finding, Segment, Trust
from ..detectors.scanner import UNREADABLE
from ..policies import Action, Direction, Facts, Hit, Policy
from .dialects.base import Channel, Where
from .enforce import masked
from .errors import Refused
from .exchange import Exchange, Run
from .routes import Output, Route
from .stream.holdback import HoldBack, Verdict, edited, judged

_log = structlog.get_logger(__name__)

MOST_FOUND = 1000
"""Findings of one answer that are kept for its record; later ones are acted on all the same."""

_ALLOW = Verdict(Action.ALLOW)


class Screening:
    """The policy's eye on one answer; leaves its findings on the exchange."""

    def __init__(self, x: Exchange, route: Route) -> None:
        self._route = route
        self._facts: Facts | None = None
        self._policy: Policy = route.policy
        self._output: Output = route.output
        self._found: list[tuple[Segment, Finding]] = []
        self._x = x
        self.run = Run("screen", "1", Direction.OUTPUT, "pass", 0, self._found)
        x.runs.append(self.run)

    def holdback(self, channel: Channel) -> HoldBack:
        """The filter of a channel that has just appeared in a stream."""
        where = ("choices", channel.choice, channel.name, channel.part)
        return HoldBack(self._output.held, self._judge, channel.source, where)

    def follower(self, channel: Channel) -> HoldBack | None:
        """What watches a channel without holding it; None if nothing is only flagged."""
        if not self._output.followed.patterns:
            return None
        where = ("choices", channel.choice, channel.name, channel.part)
        return HoldBack(self._output.followed, self._judge, channel.source, where)

    def whole(self, segments: Sequence[Segment]) -> tuple[dict[Where, str], bool]:
        """The new texts of a complete answer by place, and whether it is blocked.

        Raises:
            Refused: a text cannot be searched, or not in time, and nothing may pass unread.

        """
        start = time.monotonic_ns()
        texts: dict[Where, str] = {}
        blocked = False
        until = start + self._output.terms.timeout_ns
        for segment in segments:
            if time.monotonic_ns() >= until:
                _log.warning("detector.timeout", detector=self.run.detector)
                self._unread("timeout")
                break
            try:
                findings = self._find(segment)
            except UNREADABLE as error:
                self.unreadable(error)
                continue
            if findings:
                edits, stop = judged(segment, findings, self._judge)
                text = edited(segment.text if stop < 0 else segment.text[:stop], edits)
                blocked = blocked or stop >= 0
                if text != segment.text:
                    texts[segment.where] = text
        self.run.duration_ns = time.monotonic_ns() - start
        return texts, blocked

    def unreadable(self, error: Exception) -> None:
        """Note that a text of the answer cannot be searched.

        Raises:
            Refused: nothing may pass unread.

        """
        _log.error("detector.failed", detector=self.run.detector, error=type(error).__name__)
        self._unread("error")

    def _unread(self, verdict: str) -> None:
        run, of_terms = self.run, self._output.terms.on_error
        run.verdict = verdict
        run.on_error = self._policy.on_error if of_terms is None else of_terms
        if run.on_error is Action.FLAG:
            self._x.answer_action = max(self._x.answer_action, Action.FLAG)
        if run.on_error is Action.BLOCK:
            raise Refused(
                "answer_uninspectable",
                "the answer could not be inspected, and the policy lets nothing pass uninspected",
                status=500,
            )

    def _find(self, segment: Segment) -> list[Finding]:
        """What is to be acted on and what is to be noted in one text, in its order."""
        output = self._output
        if not output.first.sees(segment.text.encode("utf-8", "replace")):
            return []
        findings = [
            f for s in (output.held, output.followed) if s.patterns for f in s.find(segment)
        ]
        findings.sort(key=lambda f: (f.start, f.end))
        return findings

    def _judge(self, segment: Segment, finding: Finding, base: int) -> Verdict:
        action, rule = self._policy.action(self._facts or self._know(), segment, finding)
        self._note(segment, finding, base, (action, rule))
        if action is Action.REDACT:
            return Verdict(action, masked(self._policy, rule, finding.kind, segment.source))
        return Verdict(action) if action else _ALLOW

    def _know(self) -> Facts:
        """The facts of the exchange, made when the first finding needs them."""
        principal = self._x.principal
        tenant, name = (principal.tenant, principal.name) if principal is not None else ("", "")
        self._facts = self._route.facts(Direction.OUTPUT, tenant, name)
        return self._facts

    def _note(
        self, segment: Segment, finding: Finding, base: int, said: tuple[Action, str]
    ) -> None:
        action, rule = said
        self._x.answer_action = max(self._x.answer_action, action)
        if self.run.verdict == "pass":
            self.run.verdict = "hit"
        if len(self._found) >= MOST_FOUND:
            return
        place = Segment("", segment.where, segment.source, Trust.MODEL)  # its text must not stay
        moved = Finding(
            finding.kind, base + finding.start, base + finding.end, finding.score, finding.rule
        )
        self._found.append((place, moved))
        if rule:
            self._x.answer_hits.append(Hit(rule, action, place, moved))
