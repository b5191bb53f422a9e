"""What a policy is asked, and what it answers."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from ..detectors import Finding, Segment


class Action(IntEnum):
    """What to do; a larger number is stricter, and the strictest wins."""

    ALLOW = 0
    FLAG = 1
    REDACT = 2
    BLOCK = 3


class Direction(StrEnum):
    """INPUT goes to an engine, OUTPUT to the client."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the exchange besides its text."""

    direction: Direction
    route: str
    tenant: str = ""
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding that a rule spoke about: why a decision is what it is."""

    rule: str
    action: Action
    segment: Segment
    finding: Finding


@dataclass(frozen=True, slots=True)
class Decision:
    """The strictest action that any finding calls for, and every hit behind it."""

    action: Action
    hits: tuple[Hit, ...] = ()
