"""Exchanges, routes and policies that several tests of the proxy use."""

from collections.abc import Sequence
from random import Random

from tidegate.detectors import Finding, Pattern, Segment, Source, Trust
from tidegate.detectors.scanner import Scanner
from tidegate.policies import Action, Policy
from tidegate.policies.document import RuleText
from tidegate.policies.policy import Manners
from tidegate.policies.rule import from_text
from tidegate.proxy.assembly import build_output
from tidegate.proxy.dialects.base import Reading
from tidegate.proxy.engines import Pool
from tidegate.proxy.exchange import Exchange, Timeline
from tidegate.proxy.routes import Route
from tidegate.telemetry import Attempt
from tidegate.telemetry.context import TraceContext

KINDS = ("test.key", "test.ssn", "test.bomb", "test.word", "test.sense", "test.odd")
PATTERNS = (
    Pattern("key", "test.key", r"sk-[a-z]{6,12}", 0.9),
    Pattern("ssn", "test.ssn", r"\d{3}-\d{2}-\d{4}", 0.9),
    Pattern("bomb", "test.bomb", r"bomb[0-9]{4}", 0.9),
    Pattern("word", "test.word", r"wor[dk]", 0.9),
    Pattern("sense", "test.sense", r"sense\d", 0.9, check=lambda found: found != "sense0"),
)


class Shapes:
    """A detector that finds the patterns above."""

    name = "shapes"
    version = "1"
    kinds = frozenset(KINDS)

    def __init__(self, patterns: Sequence[Pattern] = PATTERNS) -> None:
        self.scanner = Scanner(patterns)

    def find(self, segment: Segment) -> list[Finding]:
        return self.scanner.find(segment)


def policy(**actions: str) -> Policy:
    """A policy with one rule for each kind: key="redact"."""
    rules = [
        from_text(
            RuleText.model_validate(
                {
                    "id": f"{kind}-{action}",
                    "kinds": f"test.{kind}",
                    "action": action,
                    "reason": "r",
                }
            ),
            KINDS,
        )
        for kind, action in actions.items()
    ]
    return Policy("p", rules, Manners(Action.BLOCK, "no input", "no output"))


def route(
    judged_by: Policy | None = None, name: str = "chat", models: tuple[str, ...] = ("m",)
) -> Route:
    judged_by = judged_by or policy()
    return Route(
        name=name,
        models=models,
        pool=Pool("main", [], Random(1)),
        policy=judged_by,
        policy_name="p",
        output=build_output(judged_by, [Shapes()]),
    )


def exchange() -> Exchange:
    """An exchange that has just come in: at 1000 of a clock that is 5000 behind the epoch."""
    return Exchange(
        id="request-1",
        trace=TraceContext("a" * 32, "b" * 16, "c" * 16, "k=v", 1, "link"),
        method="POST",
        path="/v1/chat/completions",
        client_address="192.0.2.7",
        user_agent="agent/1",
        client_request_id="theirs",
        timeline=Timeline(received=1_000_000, epoch=5_000_000),
    )


def reading(*segments: Segment, stream: bool = False) -> Reading:
    return Reading("m", stream, False, 1, -1, segments, ())


def text(said: str, *where: str | int, source: Source = Source.USER) -> Segment:
    return Segment(said, where or ("messages", 0, "content"), source, Trust.CALLER)


def attempt() -> Attempt:
    return Attempt("d" * 16, "one", "vllm", "host", 80, 7_000_000, 0)
