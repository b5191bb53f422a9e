"""Asks an engine, screens its answer, and hands it to the client.

A request is tried again only as long as the client has not got a byte, and on another engine
where there is one: whoever has seen the first word must not see another beginning.
"""

import structlog

from ..detectors import Segment, Source, Trust
from ..telemetry import Attempt
from .clients.reply import Reply
from .clients.responses import EVENTS, JSON
from .dialects.base import Answer, Endpoint
from .engines import Engine
from .engines.upstream import EngineAnswer
from .errors import BadRequest, EngineFailed, NoEngine, ProxyError
from .exchange import Exchange, monotonic
from .relay import Relay
from .routes import Route
from .screening import Screening
from .usage import estimated
from .world import World

OK = 200

_log = structlog.get_logger(__name__)

_CONNECTION = frozenset({"reset", "connect"})
_BUSY = frozenset({502, 503, 504})
"""An engine's "not me, not now": another may be better off."""
_LATER = frozenset({408, 409, 429})
"""What may be well later; the SDKs' own rule."""
_OURS = frozenset({401, 403, 407})
"""The engine does not take our credential; the client's own was fine."""


def models(x: Exchange, w: World, reply: Reply) -> None:
    """Answer a model list from the routes that the caller may use."""
    names = sorted(
        {
            model
            for route in w.router.routes
            if x.principal is not None and x.principal.may_use(route.name)
            for model in route.named
        }
    )
    wanted = reply.model_name
    if wanted is None:
        reply.stage(w.dialect.models(names, w.started), JSON)
    elif wanted in names:
        reply.stage(w.dialect.model(wanted, w.started), JSON)
    else:
        raise BadRequest(
            "model_not_found", "no such model is served to this key", param="model", status=404
        )


async def forward(x: Exchange, w: World, reply: Reply) -> None:
    """Get an answer from the route's pool, all of it but what must wait for the closing record.

    Raises:
        NoEngine: no engine can be asked.
        EngineFailed: every engine that was asked failed, or one failed after the first byte.
        BadRequest: the engine says that the request is at fault.

    """
    route = _route(x)
    tried: list[Engine] = []
    engine = route.pool.choose(w.now())
    while True:
        try:
            await _attempt(x, w, reply, engine)
        except EngineFailed as failure:
            _note_failure(w, engine, failure)
            tried.append(engine)
            if reply.started or len(tried) > route.pool.retries:
                raise
            engine = _other(route, w, tried, failure)
        else:
            engine.succeeded()
            return


def _other(route: Route, w: World, tried: list[Engine], failure: EngineFailed) -> Engine:
    """The engine to try next.

    The same one only if the connection broke: it may have been an idle one that the engine was
    just closing.  An engine that stalled or failed would do so again.
    """
    try:
        engine = route.pool.choose(w.now(), tried)
    except NoEngine:
        raise failure from None
    if failure.code not in _CONNECTION and any(engine is t for t in tried):
        raise failure
    return engine


async def _attempt(x: Exchange, w: World, reply: Reply, engine: Engine) -> None:
    """One try at one engine, with its mark on the exchange whatever happens."""
    attempt = Attempt(
        span_id=w.telemetry.contexts.ids.span_id(),
        engine=engine.name,
        kind=engine.kind,
        address=engine.host,
        port=engine.port,
        start_ns=x.at(monotonic()),
        end_ns=0,
    )
    x.attempts.append(attempt)
    x.forget_answer()
    attempt.error = "client_left"  # unless something else is learnt below
    engine.inflight += 1
    try:
        headers = _headers(x, attempt)
        async with w.upstream.ask(engine, _endpoint(x).path, x.sent, headers) as answer:
            attempt.status = answer.status
            attempt.first_byte_ns = x.at(monotonic())
            await _take(x, w, reply, answer)
        attempt.error = ""
    except ProxyError as error:
        attempt.error = error.code if isinstance(error, EngineFailed) else ""
        raise
    finally:
        engine.inflight -= 1
        attempt.end_ns = x.at(monotonic())


def _headers(x: Exchange, attempt: Attempt) -> list[tuple[str, str]]:
    """All that an engine is sent: nothing of the client's headers passes."""
    return [
        ("Content-Type", JSON),
        ("Accept", EVENTS if x.streams else JSON),
        ("Accept-Encoding", "identity"),
        ("X-Request-Id", x.id),
        *x.trace.headers(attempt.span_id),
    ]


async def _take(x: Exchange, w: World, reply: Reply, answer: EngineAnswer) -> None:
    if answer.status != OK:
        raise _refused(x, w, answer, await answer.read())
    if x.streams:
        if answer.content_type != EVENTS:
            raise EngineFailed("bad_stream", "the engine answered a stream with something else")
        await Relay(x, w, reply, _names(x)).run(answer)
    else:
        await _whole(x, w, reply, answer)


async def _whole(x: Exchange, w: World, reply: Reply, answer: EngineAnswer) -> None:
    """Read a complete answer, screen it, and stage it."""
    body = await answer.read()
    said: Answer = w.dialect.answer(body, _endpoint(x))
    x.attempt.first_token_ns = x.at(monotonic())
    x.model_answered = said.model
    x.finish_reasons = said.finish_reasons
    x.answer_length = sum(len(s.text) for s in said.segments)
    x.usage, x.usage_estimated = said.usage, False
    if said.usage is None:
        x.usage, x.usage_estimated = estimated(x, said.segments), True
    if said.segments:
        texts, blocked = Screening(x, _route(x)).whole(said.segments)
        if texts or blocked:
            body = w.dialect.edit_answer(body, texts, blocked=blocked)
        if blocked:
            x.finish_reasons = ["content_filter"]
    if (names := _names(x)) is not None:
        body = w.dialect.renamed(body, names)
    reply.stage(body, JSON)


def _refused(x: Exchange, w: World, answer: EngineAnswer, body: bytes) -> ProxyError:
    """What an engine's error status means for the client."""
    status = answer.status
    if status in _OURS:
        return EngineFailed("engine_auth", "the engine does not accept the proxy's credential")
    if status in _BUSY:
        return EngineFailed("engine_busy", "the engine cannot take the request", status=503)
    if not 400 <= status < 500:  # noqa: PLR2004 - client errors
        return EngineFailed("engine_error", f"the engine failed (status {status})")
    said = Segment(w.dialect.error_message(body), (), Source.ASSISTANT, Trust.MODEL)
    texts, _ = Screening(x, _route(x)).whole([said])
    error = BadRequest("engine_refused", texts.get((), said.text), status=status)
    error.retry = status in _LATER
    if status == 429 and answer.retry_after.isdigit():  # noqa: PLR2004 - too many requests
        error.headers = (("Retry-After", str(min(int(answer.retry_after), 120))),)
    return error


def _note_failure(w: World, engine: Engine, failure: EngineFailed) -> None:
    if failure.code != "engine_busy" and engine.failed(w.now()):
        _log.warning("engine.ejected", engine=engine.name, error=failure.code)


def _names(x: Exchange) -> tuple[str, str] | None:
    """The engine's own model name and the client's, where they differ."""
    route = _route(x)
    if not route.engine_model or x.reading is None or route.engine_model == x.reading.model:
        return None
    return route.engine_model, x.reading.model


def _endpoint(x: Exchange) -> Endpoint:
    if x.endpoint is None:
        raise AssertionError("a request without an endpoint reached an engine")
    return x.endpoint


def _route(x: Exchange) -> Route:
    if x.route is None:
        raise AssertionError("a request without a route reached an engine")
    return x.route
