"""From a policy file's text to a Policy, in named stages.

A stage gathers every mistake of its sort; the first stage that finds any is the last to run,
because what comes after would only report its consequences.  (Unknown kinds are looked for in
every rule that could be read, so they come together with mistakes of shape.)
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

from pydantic import ValidationError

from . import shape, source
from .check import contradictions, useless
from .decision import Action
from .document import Case, PolicyText, RuleText
from .policy import Manners, Policy
from .problem import Mistakes, Problem, quoted, suggestion
from .rule import Rule, bad_placeholders, from_text
from .source import Source


class PolicyError(Mistakes):
    """A policy file that cannot be used, with all that is wrong."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A policy and the tests that its file brings along."""

    policy: Policy
    cases: tuple[Case, ...]
    source: Source


@dataclass(slots=True)
class _Draft:
    """What the stages hand on."""

    text: str
    file: str
    kinds: frozenset[str]
    source: Source = field(init=False)
    document: PolicyText = field(init=False)
    rules: list[Rule] = field(default_factory=list)
    policy: Policy = field(init=False)


def compile_policy(text: str, file: str, kinds: Collection[str]) -> Compiled:
    """Compile `text`; `file` is only named in problems, `kinds` are all kinds detectors know.

    Raises PolicyError.  The file's own tests are not run (`selftest.load_policy` does).
    """
    draft = _Draft(text, file, frozenset(kinds))
    for stage in STAGES.values():
        found = list(stage(draft))
        if found:
            raise PolicyError(found)
    return Compiled(draft.policy, draft.document.tests, draft.source)


def _parse(draft: _Draft) -> Iterator[Problem]:
    try:
        draft.source = source.load(draft.text, draft.file)
    except Mistakes as mistakes:
        yield from mistakes.problems


def _validate(draft: _Draft) -> Iterator[Problem]:
    try:
        draft.document = PolicyText.model_validate(draft.source.tree)
    except ValidationError as error:
        yield from shape.problems(error, draft.source, PolicyText)
        for index, rule in enumerate(_readable(draft.source.tree)):
            if rule is not None:
                yield from _unknown_kinds(draft, index, rule)


def _readable(tree: object) -> Iterator[RuleText | None]:
    """The rules that could be read although something else in the file could not."""
    rules = tree.get("rules") if isinstance(tree, dict) else None
    for rule in rules if isinstance(rules, list) else ():
        try:
            yield RuleText.model_validate(rule)
        except ValidationError:
            yield None


def _resolve(draft: _Draft) -> Iterator[Problem]:
    lines: dict[str, int] = {}
    for index, rule in enumerate(draft.document.rules):
        place = draft.source.value(("rules", index, "id"))
        if rule.id in lines:
            what = f"the rule {quoted(rule.id)} is defined twice"
            yield place.problem(what, f"it is already on line {lines[rule.id]}", "rename one")
        lines[rule.id] = place.line
        yield from _unknown_kinds(draft, index, rule)
        draft.rules.append(from_text(rule, draft.kinds))
    for index, case in enumerate(draft.document.tests):
        if case.rule is not None and case.rule not in lines:
            yield draft.source.value(("tests", index, "rule")).problem(
                f"there is no rule {quoted(case.rule)}",
                "a test names it",
                suggestion(case.rule, lines),
            )


def _unknown_kinds(draft: _Draft, index: int, rule: RuleText) -> Iterator[Problem]:
    for at, glob in enumerate(rule.kinds):
        if any(fnmatchcase(kind, glob) for kind in draft.kinds):
            continue
        known = draft.kinds | {kind.partition(".")[0] + ".*" for kind in draft.kinds}
        yield draft.source.value(("rules", index, "kinds", at)).problem(
            f"{quoted(glob)} names no kind of finding",
            "no detector reports it",
            suggestion(glob, known),
        )


def _check(draft: _Draft) -> Iterator[Problem]:
    for index, rule in enumerate(draft.document.rules):
        yield from _replacement(draft, index, rule)
        if rule.one_in is not None and "min_score" in rule.model_fields_set:
            place = draft.source.key(("rules", index, "one_in"))
            what = f"rule {quoted(rule.id)} has min_score and one_in"
            yield place.problem(what, "both say how high a score must be", "keep one")
    contradicting = list(contradictions(draft.rules, draft.source))
    yield from contradicting
    if not contradicting:  # both would say of the same rules that they do nothing
        yield from useless(draft.rules, draft.source)


def _replacement(draft: _Draft, index: int, rule: RuleText) -> Iterator[Problem]:
    if rule.replacement is None:
        return
    place = draft.source.value(("rules", index, "replacement"))
    if rule.action != "redact":
        what = f"rule {quoted(rule.id)} has a replacement and the action {rule.action}"
        yield place.problem(what, "only redact replaces", "remove it, or write action: redact")
    if not rule.replacement.isprintable():
        what = "the replacement holds a control character"
        yield place.problem(what, "it goes into running text", "use printable characters")
    for wrong in bad_placeholders(rule.replacement):
        what = f"the replacement holds {quoted(wrong)}"
        yield place.problem(
            what, "only {KIND} (CARD) and {kind} (pii.card) are filled in", "use one of them"
        )


def _index(draft: _Draft) -> Iterator[Problem]:
    """Make the policy; its digest is taken from the compiled rules, not from the text."""
    document = draft.document
    manners = Manners(
        Action[document.on_error.upper()], document.messages.input, document.messages.output
    )
    draft.policy = Policy(document.name, draft.rules, manners)
    yield from ()


STAGES: Mapping[str, Callable[[_Draft], Iterator[Problem]]] = MappingProxyType(
    {
        "parse": _parse,  # YAML with places
        "validate": _validate,  # names and types of all keys
        "resolve": _resolve,  # globs to kinds, tests to rules
        "check": _check,  # rules against each other
        "index": _index,  # rules ordered, exemptions found, digest taken
    }
)
