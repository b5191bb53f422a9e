"""One request and everything that became of it.

Each step of the pipeline writes the fields it owns, once.  Afterwards `facts.py` reads them for
records, spans and metrics; nothing else leaves a request.  No I/O.
"""

import time
from array import array
from collections.abc import Sequence
from typing import Any

import msgspec

from ..detectors import Finding, Segment
from ..policies import Action, Decision, Hit
from ..telemetry import Attempt
from ..telemetry.context import TraceContext
from .access import Principal
from .dialects import Endpoint, Uninspected
from .dialects.base import Reading, Usage
from .errors import ProxyError
from .routes import Route

monotonic = time.monotonic_ns
"""The clock of timelines, in nanoseconds."""

CLIENT_LEFT = 499
"""nginx's status for a client that left before there was an answer."""
INTERNAL = 500

MOST_GAPS = 65_536
"""Gaps between tokens that are kept for one answer (512 KiB); later ones are not measured."""

_NOTHING = Decision(Action.ALLOW)


class Run(msgspec.Struct):
    """One run of one detector over one direction of an exchange."""

    detector: str
    version: str
    direction: str
    verdict: str
    """"pass", "hit", "error", "timeout" or "skip"."""
    duration_ns: int
    found: Sequence[tuple[Segment, Finding]] = ()
    on_error: Action | None = None
    """What happens if it did not read everything; None until the policy was asked."""


class Timeline(msgspec.Struct):
    """When what happened: monotonic nanoseconds; 0 where it did not happen."""

    received: int
    """The head of the request had come."""
    epoch: int
    """Nanoseconds to add to a monotonic reading for time since the Unix epoch."""
    read: int = 0
    inspected: int = 0
    decided: int = 0
    recorded: int = 0
    """The opening record was durable."""
    answered: int = 0
    """The first byte of the answer went to the client's socket."""
    settled: int = 0


class Exchange(msgspec.Struct):
    """A request on its way through the proxy, and its answer on the way back."""

    id: str
    trace: TraceContext
    method: str
    path: str
    """As the client wrote it, without its query: untrusted."""
    client_address: str
    user_agent: str
    client_request_id: str
    timeline: Timeline
    endpoint: Endpoint | None = None
    principal: Principal | None = None
    route: Route | None = None
    body: bytes = b""
    """As the client sent it, decompressed; given up once it is judged."""
    size: int = 0
    """Bytes of the body."""
    sent: bytes = b""
    """As the engine gets it."""
    tree: Any = None
    reading: Reading | None = None
    edited: bool = False
    """The engine gets a body of ours, not the client's bytes."""
    runs: list[Run] = []
    uninspected: list[Uninspected] = []
    decision: Decision = _NOTHING
    answer_action: Action = Action.ALLOW
    answer_hits: list[Hit] = []
    attempts: list[Attempt] = []
    status: int = 0
    error: ProxyError | None = None
    outcome: str = ""
    usage: Usage | None = None
    usage_estimated: bool = False
    finish_reasons: Sequence[str] = ()
    model_answered: str = ""
    answer_length: int = 0
    bytes_out: int = 0
    held_max: int = 0
    held_total: int = 0
    gaps: "array[int]" = msgspec.field(default_factory=lambda: array("q"))
    wait_audit_ns: int = 0
    record_id: str = ""
    """The id of the opening record, once it has been given to the log."""
    closed: bool = False
    """The closing record has been given to the log."""

    @property
    def streams(self) -> bool:
        """Whether the client asked for a stream."""
        return self.reading is not None and self.reading.stream

    @property
    def attempt(self) -> Attempt:
        """The latest attempt at an engine."""
        return self.attempts[-1]

    def at(self, moment: int) -> int:
        """A monotonic reading as nanoseconds since the Unix epoch; 0 stays 0."""
        return moment + self.timeline.epoch if moment else 0

    def tokens_came(self, moment: int, events: int) -> None:
        """Note that this many text-bearing events arrived in one read, at a monotonic time."""
        attempt = self.attempt
        last = attempt.last_token_ns
        now = moment + self.timeline.epoch
        attempt.last_token_ns = now
        if not last:
            attempt.first_token_ns = now
            events -= 1
            last = now
        gaps = self.gaps
        if events > 0 and len(gaps) < MOST_GAPS:
            gaps.append(now - last)
            if events > 1:
                gaps.extend([0] * min(events - 1, MOST_GAPS - len(gaps)))

    def forget_answer(self) -> None:
        """Another engine is asked: what the last one's answer was screened for is no more."""
        self.runs = [run for run in self.runs if run.direction == "input"]
        self.answer_action = Action.ALLOW
        self.answer_hits = []
        self.finish_reasons = ()
        self.usage = None

    def settle(self, status: int) -> None:
        """The request is over as it should be; what a policy stopped was stopped as it should."""
        self.status = status
        self.outcome = "blocked" if self.answer_action is Action.BLOCK else "ok"
        self.timeline.settled = monotonic()

    def failed(self, error: ProxyError, status: int) -> None:
        """The request is over by an error; `status` is what the client has got already, or 0."""
        self.error = error
        self.status = status or error.status
        self.outcome = error.outcome
        self.timeline.settled = monotonic()

    def broke(self, status: int, *, left: bool) -> None:
        """The request is over because the client left, or by a fault of ours."""
        self.status = status or (CLIENT_LEFT if left else INTERNAL)
        self.outcome = "client_left" if left else "internal"
        self.timeline.settled = monotonic()


def timeline() -> Timeline:
    """A timeline that begins now."""
    now = time.monotonic_ns()
    return Timeline(now, time.time_ns() - now)
