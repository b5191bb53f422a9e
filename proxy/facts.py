"""The only page on which facts leave a request: for the audit log, spans and metrics.

A privacy reviewer reads this file.  Records and measurements hold names, numbers, places and
kinds; no text of a prompt or an answer.  Strings the client wrote are cut and marked untrusted by
the record schema.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from .. import audit
from ..detectors import Finding, Segment
from ..policies import Action, Direction, Hit
from ..telemetry import Attempt, Measurement, Stage
from . import exchange
from .duty import UNREAD

MOST_FINDS = 48
MOST_SKIPS = 48
MOST_SPANS = 16
"""A record is at most 32 KiB: what is beyond these limits is counted, not listed."""

MOST_NAME = 128
MOST_REASONS = 16
MOST_TOKENS = 1 << 40
"""An engine's strings and numbers are untrusted too: a record must take them whatever they are."""

_KEY = re.compile(r"[A-Za-z_][A-Za-z_-]{0,31}", re.ASCII)
"""Keys of a body that a path may name.  Keys are the client's words: one may be a card number or
a sentence, and those stay out of records."""

_US = 1000


def opening(x: exchange.Exchange) -> audit.Opening:
    """The decision on a request."""
    record = audit.Opening(
        id=x.id,
        req=_request(x),
        act=_action(x),
        t=(x.timeline.received + x.timeline.epoch) // _US,
        why=_why(x),
        find=_finds(x, Direction.INPUT),
        skip=_skips(x),
    )
    if x.principal is not None:
        p = x.principal
        record.who = audit.Principal(
            tenant=p.tenant, sub=p.name, auth="key" if p.key_id else "anonymous", key=p.key_id
        )
    if x.route is not None:
        policy = x.route.policy
        hits = x.decision.hits
        rules = sorted({hit.rule for hit in hits}) if hits else []
        record.pol = audit.Policy(id=x.route.policy_name, sha=policy.digest[:32], rules=rules)
        record.route = audit.Route(req=_model(x), model=x.route.name, pool=x.route.pool.name)
    elif x.reading is not None:
        record.route = audit.Route(req=_model(x))
    return record


def closing(x: exchange.Exchange) -> audit.Closing:
    """How a request ended."""
    record = audit.Closing(
        id=f"{x.id}.c",
        ref=x.record_id,
        code=x.status,
        st="aborted" if x.outcome in ("client_left", "engine_failed", "internal") else "complete",
        err=x.error.code if x.error is not None else "",
        act=x.answer_action.name.lower(),
        why=x.outcome,
        find=_finds(x, Direction.OUTPUT),
        skip=_unscreened(x),
        lat=audit.Latency(
            total=(x.timeline.settled - x.timeline.received) // _US,
            ttft=max(0, _ttft(x)) // _US,
            audit=x.wait_audit_ns // _US,
        ),
        out=audit.Output(len=x.answer_length, fin=_reasons(x)),
    )
    if x.attempts:
        attempts = [_attempt(attempt) for attempt in x.attempts]
        record.route = audit.Route(model=x.model_answered[:MOST_NAME], att=attempts)
    if x.usage is not None:
        record.use = audit.Use(
            input=_tokens(x.usage.prompt_tokens),
            out=_tokens(x.usage.completion_tokens),
            est=x.usage_estimated,
        )
    return record


def measurement(x: exchange.Exchange, model: str) -> Measurement:
    """What spans and metrics are made from; `model` is a name of bounded cardinality."""
    line, usage, epoch = x.timeline, x.usage, x.timeline.epoch
    return Measurement(
        request_id=x.id,
        trace_id=x.trace.trace_id,
        span_id=x.trace.span_id,
        parent_span_id=x.trace.parent_span_id,
        trace_state=x.trace.trace_state,
        sampled=x.trace.sampled,
        method=x.method,
        path=x.endpoint.path if x.endpoint is not None else "",
        dialect="openai",
        operation=x.endpoint.operation if x.endpoint is not None else "",
        route=x.route.name if x.route is not None else "",
        tenant=x.principal.tenant if x.principal is not None else "",
        principal=x.principal.name if x.principal is not None else "",
        model_requested=_model(x),
        model=model,
        model_answered=x.model_answered[:MOST_NAME],
        stream=x.streams,
        status=x.status,
        outcome=x.outcome,
        action=max(x.decision.action, x.answer_action).name.lower(),
        start_ns=line.received + epoch,
        end_ns=line.settled + epoch,
        first_byte_ns=x.at(line.answered),
        attempts=x.attempts,
        stages=_stages(x),
        input_tokens=min(usage.prompt_tokens, MOST_TOKENS) if usage is not None else -1,
        output_tokens=min(usage.completion_tokens, MOST_TOKENS) if usage is not None else -1,
        tokens_estimated=x.usage_estimated,
        gaps_ns=x.gaps.tolist(),
        held_bytes_max=x.held_max,
        held_bytes_total=x.held_total,
        bytes_in=x.size,
        bytes_out=x.bytes_out,
        finish_reasons=_reasons(x),
        findings=_counts(x),
        client_address=x.client_address,
        user_agent=x.user_agent,
        link=x.trace.link,
    )


def _request(x: exchange.Exchange) -> audit.Request:
    return audit.Request(
        id=x.id,
        cid=x.client_request_id,
        trace=x.trace.trace_id,
        span=x.trace.span_id,
        api=f"openai.{x.endpoint.name}" if x.endpoint is not None else "",
        op=x.endpoint.operation if x.endpoint is not None else "",
        stream=x.streams,
        bytes=x.size,
        ip=x.client_address,
        ua=x.user_agent,
        method=x.method,
        path=x.path,
    )


def _action(x: exchange.Exchange) -> str:
    if x.decision.action is not Action.BLOCK and (x.error is not None or _unread(x)):
        return "error"
    return x.decision.action.name.lower()


def _why(x: exchange.Exchange) -> str:
    return x.error.code if x.error is not None else ""


def _unread(x: exchange.Exchange) -> bool:
    """Whether the request will be refused because a detector did not read it."""
    return any(run.on_error is Action.BLOCK and run.verdict in UNREAD for run in x.runs)


def _model(x: exchange.Exchange) -> str:
    return x.reading.model if x.reading is not None else ""


def _ttft(x: exchange.Exchange) -> int:
    for attempt in x.attempts:
        if attempt.first_token_ns:
            return attempt.first_token_ns - x.timeline.received - x.timeline.epoch
    return 0


def _attempt(attempt: Attempt) -> audit.Attempt:
    took = max(0, attempt.end_ns - attempt.start_ns)
    return audit.Attempt(
        ep=attempt.engine, code=attempt.status, err=attempt.error, dur=took // _US
    )


def _finds(x: exchange.Exchange, direction: Direction) -> list[audit.Find]:
    is_input = direction is Direction.INPUT
    phase, hits = ("in", x.decision.hits) if is_input else ("out", x.answer_hits)
    finds: list[audit.Find] = []
    for run in x.runs:
        if run.direction != direction:
            continue
        if run.verdict in UNREAD and run.on_error is not None:
            finds.append(_find(run, phase))
            finds[-1].act = run.on_error.name.lower()
        elif not run.found:
            finds.append(_find(run, phase))
            continue
        groups = _groups(run.found)
        room = max(0, MOST_FINDS - len(finds))
        for (segment, kind), found in islice(groups.items(), room):
            hit = _hit(hits, segment, kind)
            spans = [(f.start, f.end) for f in found[:MOST_SPANS]]
            find = _find(run, phase, cat=kind, n=len(found), spans=spans)
            find.src = _dotted(segment.where)
            if hit is not None:
                find.act, find.rule = hit.action.name.lower(), hit.rule
            finds.append(find)
        if len(groups) > room:
            rest = sum(len(found) for found in islice(groups.values(), room, None))
            finds.append(_find(run, phase, cat="*", n=rest))
    return finds


def _find(
    run: exchange.Run,
    phase: str,
    cat: str = "",
    n: int = 0,
    spans: Iterable[tuple[int, int]] = (),
) -> audit.Find:
    return audit.Find(
        det=run.detector,
        ver=run.version,
        verdict=run.verdict,  # type: ignore[arg-type]  # a Run's verdicts are the schema's
        phase=phase,  # type: ignore[arg-type]  # "in" or "out"
        cat=cat,
        n=n,
        spans=list(spans) if n else [],
        dur=run.duration_ns // _US,
    )


def _groups(
    found: Iterable[tuple[Segment, Finding]],
) -> dict[tuple[Segment, str], list[Finding]]:
    """Findings by place and kind.  Segments of one request differ in their place."""
    groups: dict[tuple[tuple[str | int, ...], str], tuple[Segment, list[Finding]]] = {}
    for segment, finding in found:
        key = (segment.where, finding.kind)
        groups.setdefault(key, (segment, []))[1].append(finding)
    return {(segment, kind): found for (_, kind), (segment, found) in groups.items()}


def _hit(hits: Sequence[Hit], segment: Segment, kind: str) -> Hit | None:
    matching = [h for h in hits if h.finding.kind == kind and h.segment.where == segment.where]
    return max(matching, key=lambda h: h.action, default=None)


def _skips(x: exchange.Exchange) -> list[audit.Skip]:
    listed = [
        audit.Skip(where=_dotted(u.where), kind=u.type, bytes=u.size)
        for u in x.uninspected[:MOST_SKIPS]
    ]
    if len(x.uninspected) > MOST_SKIPS:
        rest = x.uninspected[MOST_SKIPS:]
        listed.append(audit.Skip(where="*", kind="more", bytes=sum(u.size for u in rest)))
    return listed


def _unscreened(x: exchange.Exchange) -> list[audit.Skip]:
    """Kinds that the policy names for answers but that no pattern can follow."""
    if x.route is None or not x.answer_length:
        return []
    return [audit.Skip(where="answer", kind=kind) for kind in x.route.output.unscreened]


def _counts(x: exchange.Exchange) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in x.runs:
        for _, finding in run.found:
            counts[finding.kind] = counts.get(finding.kind, 0) + 1
    return counts


def _stages(x: exchange.Exchange) -> list[Stage]:
    line, epoch = x.timeline, x.timeline.epoch
    stages = []
    if line.inspected:
        stages.append(Stage("inspect.input", line.read + epoch, line.inspected + epoch))
    if x.wait_audit_ns and line.recorded:
        end = line.recorded + epoch
        stages.append(Stage("wait.audit", end - x.wait_audit_ns, end))
    return stages


def _reasons(x: exchange.Exchange) -> list[str]:
    """Reasons of the API are a word; an engine's other words stay out."""
    reasons = x.finish_reasons[:MOST_REASONS]
    return [reason if _KEY.fullmatch(reason) else "other" for reason in reasons]


def _tokens(count: int) -> int:
    return min(max(0, count), MOST_TOKENS)


def _dotted(where: tuple[str | int, ...]) -> str:
    """A path, with a star for keys that are no plain names."""
    steps = [f"[{p}]" if isinstance(p, int) else f".{_plain(p)}" for p in where]
    return "".join(steps).lstrip(".")[:MOST_NAME]


def _plain(key: str) -> str:
    return key if _KEY.fullmatch(key) else "*"
