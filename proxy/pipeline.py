"""The story of one request, top to bottom.

It does no I/O of its own and knows no wire: every step is asked of a part it was given, and
leaves its mark on the Exchange.  What goes wrong is raised; `server.py` says it to the client.

The order is the security property.  Nothing is sent to an engine before it was judged and its
record submitted; no byte is released before the opening record is durable, nor the last one
before the closing record is.
"""

import asyncio

from ..policies import Action, Decision, Direction
from . import enforce, jsons
from .clients.reply import Reply
from .dialects.base import Reading
from .duty import UNREAD
from .errors import AuditFailed, BadRequest, Forbidden, ProxyError, Refused
from .exchange import Exchange, Run, monotonic
from .forward import OK, forward, models
from .inspect import LARGE
from .routes import Route
from .world import World


async def carry(x: Exchange, w: World, reply: Reply) -> None:
    """Carry one exchange to an engine and its answer back to the client.

    Raises:
        ProxyError: after both records are durable; the reply has still to be told of it.

    """
    try:
        admit(x, w, reply)
        if x.endpoint is not None and x.endpoint.read is None:
            models(x, w, reply)
        else:
            await understand(x, w, reply)
            await judge(x, w)
            w.recorder.open(x)
            obey(x, w)
            if w.record_first:
                await w.recorder.opened(x)
            await forward(x, w, reply)
        x.settle(reply.status or OK)
        await w.recorder.closed(x)
        reply.finish()
    except ProxyError as error:
        x.failed(error, reply.status)
        await _conclude(x, w, error)
        raise
    except BaseException as error:  # CancelledError too: the client left
        left = isinstance(error, asyncio.CancelledError | ConnectionError)
        x.broke(reply.status, left=left)
        w.recorder.abandon(x)
        raise


def admit(x: Exchange, w: World, reply: Reply) -> None:
    """Who calls what: the endpoint and the caller, before a byte of the body is read."""
    x.principal = w.access.authenticate(*reply.credentials, peer_is_loopback=reply.loopback)
    reply.refuse_oddities()
    x.endpoint = w.dialect.endpoint(x.method, reply.path)


async def understand(x: Exchange, w: World, reply: Reply) -> None:
    """Read the body, find its texts, and choose the route by its model."""
    x.body = await reply.receive()
    x.size = len(x.body)
    if x.size > LARGE:  # others need not wait while a large body is read
        reading = await asyncio.to_thread(_read, x, w.limits.json_depth)
    else:
        reading = _read(x, w.limits.json_depth)
    x.reading = reading
    if reading.count > w.limits.messages:
        raise BadRequest(
            "too_many_messages", f"a request may have at most {w.limits.messages} messages"
        )
    x.uninspected += reading.uninspected
    x.route = _route(x, w, reading)
    x.timeline.read = monotonic()


async def judge(x: Exchange, w: World) -> None:
    """Inspect every text of the request and decide by the route's policy."""
    reading, route, principal = x.reading, x.route, x.principal
    if reading is None or route is None or principal is None:
        raise AssertionError("judge comes after understand")
    x.runs = await w.inspector.look(reading.segments, Direction.INPUT)
    x.timeline.inspected = monotonic()
    found = [found for run in x.runs for found in run.found]
    if found:
        facts = route.facts(Direction.INPUT, principal.tenant, principal.name)
        x.decision = route.policy.decide(facts, found)
    _note_unread(x, route.policy.on_error)
    x.timeline.decided = monotonic()


def obey(x: Exchange, w: World) -> None:
    """Do what the decision says: refuse, or edit the body; and prepare it for the engine.

    Raises:
        Refused: the policy blocks.

    """
    reading, route = x.reading, x.route
    if reading is None or route is None:
        raise AssertionError("obey comes after judge")
    policy = route.policy
    unread = [run for run in x.runs if run.on_error is Action.BLOCK and run.verdict in UNREAD]
    if unread:
        raise _uninspectable(unread)
    if x.decision.action is Action.BLOCK:
        raise enforce.refusal(x.decision.hits, policy.message(Direction.INPUT))
    if x.decision.action is Action.REDACT:
        enforce.redact(x.tree, enforce.redacted(x.decision.hits, policy))
        x.edited = True
    model = route.engine_model or reading.model
    if w.dialect.for_engine(x.tree, reading, model) or x.edited:
        x.edited = True
        x.sent = jsons.encode(x.tree)
    else:
        x.sent = x.body
    x.tree = None  # the texts are judged; a long answer need not keep them alive
    x.body = b""


def _read(x: Exchange, json_depth: int) -> Reading:
    if x.endpoint is None or x.endpoint.read is None:
        raise AssertionError("only endpoints with a body are read")
    x.tree = jsons.decode(x.body, json_depth)
    return x.endpoint.read(x.tree)


def _route(x: Exchange, w: World, reading: Reading) -> Route:
    path = x.endpoint.path if x.endpoint is not None else ""
    route = w.router.find(reading.model, path)
    if x.principal is None or not x.principal.may_use(route.name):
        raise Forbidden("route_forbidden", "this key may not use this model", param="model")
    return route


def _note_unread(x: Exchange, of_policy: Action) -> None:
    """Settle what happens where a detector did not read everything."""
    for run in x.runs:
        if run.verdict in UNREAD:
            run.on_error = of_policy if run.on_error is None else run.on_error
            if run.on_error is Action.FLAG:
                x.decision = Decision(max(Action.FLAG, x.decision.action), x.decision.hits)


def _uninspectable(runs: list[Run]) -> Refused:
    """The refusal for these runs, which did not read everything."""
    if any(run.verdict == "timeout" for run in runs):
        refused = Refused(
            "inspection_timeout",
            "the request takes too long to inspect, and the policy lets nothing pass uninspected",
            status=500,
        )
    else:
        refused = Refused(
            "inspection_failed",
            "the request could not be inspected, and the policy lets nothing pass uninspected",
            status=500,
        )
    unread = sorted({run.detector for run in runs})
    refused.details = {"innererror": {"code": refused.code, "detectors": unread}}
    return refused


async def _conclude(x: Exchange, w: World, error: ProxyError) -> None:
    """Make both records durable before the client hears of the failure."""
    if isinstance(error, AuditFailed):
        w.recorder.abandon(x)
    else:
        await w.recorder.closed(x)
