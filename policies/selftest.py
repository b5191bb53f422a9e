"""The tests that a policy file brings along, run whenever it is loaded.

Detectors are handed in, so that policies know none.  Texts of answers are searched as answers
are, which is not the way of requests: a test must not pass where the rule would not fire.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType

from ..detectors import Finding, Segment, Source, Trust
from .answers import Kinds, unseen
from .compile import Compiled, PolicyError, compile_policy
from .decision import Action, Decision, Direction, Facts
from .document import Case
from .policy import Policy
from .problem import Problem, quoted

Find = Callable[[Segment, Direction], list[Finding]]
"""All findings in a text that goes this way."""

TRUST: Mapping[Source, Trust] = MappingProxyType(
    {
        Source.SYSTEM: Trust.OPERATOR,
        Source.USER: Trust.CALLER,
        Source.ASSISTANT: Trust.MODEL,
        Source.REASONING: Trust.MODEL,
        Source.TOOL_CALL: Trust.MODEL,
        Source.TOOL_RESULT: Trust.THIRD_PARTY,
        Source.TOOL_DEFINITION: Trust.THIRD_PARTY,
        Source.DOCUMENT: Trust.THIRD_PARTY,
    }
)
"""Who speaks in a test that does not say so."""


def load_policy(text: str, file: str, kinds: Kinds, find: Find) -> Compiled:
    """Compile a policy file and run its tests; raises PolicyError if either finds a mistake.

    A test of a rule none of whose kinds is reported is left out: its detector is switched off.
    """
    compiled = compile_policy(text, file, kinds.known)
    rules = compiled.policy.rules
    idle = {rule.id for rule in rules if rule.kinds.isdisjoint(kinds.reported)}
    grave = [found.problem for found in unseen(compiled, kinds) if found.grave]
    failed = [*grave, *failures(compiled, find, idle)]
    if failed:
        raise PolicyError(failed)
    return compiled


def failures(compiled: Compiled, find: Find, idle: Collection[str] = ()) -> Iterator[Problem]:
    """A problem for each test of the file that does not come out as it says.

    Tests of the rules in `idle` are not run.
    """
    for index, case in enumerate(compiled.cases):
        if case.rule in idle:
            continue
        decision, found = _run(compiled.policy, case, find)
        rules = {hit.rule for hit in decision.hits if hit.action is decision.action}
        if decision.action is Action[case.expect.upper()] and case.rule in {None, *rules}:
            continue
        by = f" by {case.rule}" if case.rule else ""
        yield compiled.source.value(("tests", index, "expect")).problem(
            f"the test {quoted(case.name)} expects {case.expect}{by}",
            f"the answer is {_told(decision)}{_listed(found)}",
            "correct the rules or the test",
        )


def _run(policy: Policy, case: Case, find: Find) -> tuple[Decision, list[Finding]]:
    trust = TRUST[case.source] if case.trust is None else Trust[case.trust.upper()]
    segment = Segment(case.text, ("test",), case.source, trust)
    facts = Facts(Direction(case.direction), case.route)
    found = find(segment, facts.direction)
    return policy.decide(facts, ((segment, finding) for finding in found)), found


def _told(decision: Decision) -> str:
    rules = sorted({hit.rule for hit in decision.hits if hit.action is decision.action})
    return decision.action.name.lower() + (f" by {' and '.join(rules)}" if rules else "")


def _listed(found: list[Finding]) -> str:
    """Kinds and scores only; a test's text may be confidential too."""
    if not found:
        return " because nothing was found"
    return " for " + " and ".join(f"{finding.kind} ({finding.score:g})" for finding in found)
