"""A policy file as people write it.  What it means is in `rule.py` and docs/policies.md."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ..detectors import Source
from .shape import mistake


def one_or_more(value: Any) -> Any:
    """`a` is read as `[a]`, so that one name needs no brackets."""
    return (value,) if isinstance(value, str) else value


def _identifier(value: Any) -> Any:
    if isinstance(value, str) and not _only(value, "-_."):
        raise mistake(
            "it may hold only letters, digits, '-', '_' and '.'", "write it like 'mask-cards'"
        )
    return value


def _glob(value: Any) -> Any:
    if isinstance(value, str) and not _only(value, "-_.*/:"):
        raise mistake(
            "it may hold only letters, digits, '-', '_', '.', '/', ':' and '*'",
            "write a name, with '*' for any characters",
        )
    return value


def _only(text: str, others: str) -> bool:
    return text.isascii() and all(c.isalnum() or c in others for c in text)


Text = Annotated[str, Field(min_length=1, max_length=300)]
Id = Annotated[str, BeforeValidator(_identifier), Field(min_length=1, max_length=64)]
Glob = Annotated[str, BeforeValidator(_glob), Field(min_length=1, max_length=100)]
Globs = Annotated[tuple[Glob, ...], BeforeValidator(one_or_more), Field(min_length=1)]
ActionName = Literal["allow", "flag", "redact", "block"]
TrustName = Literal["third_party", "model", "caller", "operator"]
Trusts = Annotated[tuple[TrustName, ...], BeforeValidator(one_or_more), Field(min_length=1)]
Sources = Annotated[tuple[Source, ...], BeforeValidator(one_or_more), Field(min_length=1)]

MOST = 1000
"""Rules, and tests, in one file."""


class _Part(BaseModel):
    """Unknown keys are mistakes, and nothing changes after reading."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RuleText(_Part):
    """One rule: which findings it speaks about, and what is to be done with them."""

    id: Id
    kinds: Globs
    direction: Literal["input", "output", "both"] = "both"
    trust: Trusts = ("third_party", "model", "caller", "operator")
    sources: Sources = tuple(Source)
    routes: Globs = ("*",)
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.0
    one_in: Annotated[float, Field(ge=1, le=10_000)] | None = None
    """Instead of `min_score`: only findings whose like one in so many benign texts shows."""
    action: ActionName
    replacement: Annotated[str, Field(max_length=100)] | None = None
    reason: Text


class Case(_Part):
    """A test that the file brings along: the strictest action for one text, and who decides."""

    name: Text
    text: Annotated[str, Field(max_length=20_000)]
    source: Source = Source.USER
    trust: TrustName | None = None
    """Without it, what the source implies (`selftest.TRUST`)."""
    direction: Literal["input", "output"] = "input"
    route: Annotated[str, Field(max_length=100)] = ""
    expect: ActionName
    rule: Id | None = None


class Messages(_Part):
    """What a client is told when something is blocked."""

    input: Text = "The request was refused by policy."
    output: Text = "The answer was stopped by policy."


class PolicyText(_Part):
    """The whole file."""

    version: Literal[1]
    name: Id
    description: Annotated[str, Field(max_length=2000)] = ""
    on_error: Literal["block", "flag", "allow"] = "block"
    messages: Messages = Messages()
    rules: Annotated[tuple[RuleText, ...], Field(max_length=MOST)]
    tests: Annotated[tuple[Case, ...], Field(max_length=MOST)] = ()
