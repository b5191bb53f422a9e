"""Does what a decision says: edits texts in place, or refuses.

A redacted text loses exactly the spans that were found; everything else keeps its value.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..detectors import Segment, Source
from ..policies import Action, Hit, Policy
from .dialects.base import NAMES, Where, dotted
from .errors import Refused
from .stream.holdback import Edit, edited, merged


def redact(tree: Any, texts: Mapping[Where, str]) -> None:
    """Set the texts at these places of a body.

    Raises:
        Refused: a place is the names of members.  To rename one could change what a tool does or
            overwrite another, so the request is refused instead.

    """
    for where in texts:
        if where[-1:] == (NAMES,):
            raise Refused(
                "content_filter",
                "the policy redacts what the name of a member holds; names are not edited, so the"
                " request is refused",
                param=dotted(where) or None,
            )
    for where, text in texts.items():
        node = tree
        for step in where[:-1]:
            node = node[step]
        node[where[-1]] = text


def redacted(hits: Sequence[Hit], policy: Policy) -> dict[Where, str]:
    """The new text of every place that has something to redact."""
    places: dict[Where, tuple[Segment, list[Edit]]] = {}
    for hit in hits:
        if hit.action is not Action.REDACT:
            continue
        edits = places.setdefault(hit.segment.where, (hit.segment, []))[1]
        mask = masked(policy, hit.rule, hit.finding.kind, hit.segment.source)
        edits.append(Edit(hit.finding.start, hit.finding.end, mask))
    return {
        where: edited(segment.text, merged(sorted(edits)))
        for where, (segment, edits) in places.items()
    }


def masked(policy: Policy, rule: str, kind: str, source: Source) -> str:
    """What stands in place of a finding; tool arguments are JSON, so there it is escaped."""
    mask = policy.mask(rule, kind)
    return json.dumps(mask)[1:-1] if source is Source.TOOL_CALL else mask


def refusal(hits: Sequence[Hit], message: str) -> Refused:
    """The refusal for a decision to block, naming rules and kinds, never text."""
    blocking = [hit for hit in hits if hit.action is Action.BLOCK]
    kinds = sorted({hit.finding.kind for hit in blocking})
    rules = sorted({hit.rule for hit in blocking})
    places = {dotted(hit.segment.where): None for hit in blocking}
    refused = Refused("content_filter", message, param=next(iter(places), None))
    refused.details = {"innererror": {"code": "policy_violation", "rules": rules, "kinds": kinds}}
    return refused
