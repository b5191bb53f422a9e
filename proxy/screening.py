"""Screens one answer by its route's policy: streams through HoldBacks, whole bodies at once.

Both ways ask the same patterns and the same policy, so they find the same.
"""

import time
from collections.abc import Sequence

from ..detectors import Finding, Segment, Trust
from ..detectors.scanner import Scanner
from ..policies import Action, Direction, Facts, Hit, Policy
from .dialects.base import Channel
from .enforce import masked
from .exchange import Exchange, Run
from .routes import Output, Route
from .stream.holdback import HoldBack, Verdict, edited, judged

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

    def whole(self, segments: Sequence[Segment]) -> tuple[dict[tuple[str | int, ...], str], bool]:
        """The new texts of a complete answer by place, and whether it is blocked."""
        start = time.monotonic_ns()
        texts: dict[tuple[str | int, ...], str] = {}
        blocked = False
        for segment in segments:
            if not self._output.either.sees(segment.text.encode("utf-8", "replace")):
                continue
            findings = _find(self._output.held, segment) + _find(self._output.followed, segment)
            if findings:
                findings.sort(key=lambda f: (f.start, f.end))
                edits, stop = judged(segment, findings, self._judge)
                text = edited(segment.text if stop < 0 else segment.text[:stop], edits)
                blocked = blocked or stop >= 0
                if text != segment.text:
                    texts[segment.where] = text
        self.run.duration_ns = time.monotonic_ns() - start
        return texts, blocked

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


def _find(scanner: Scanner, segment: Segment) -> list[Finding]:
    return scanner.find(segment) if scanner.patterns else []
