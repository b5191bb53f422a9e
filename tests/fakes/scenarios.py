"""Named ways for an engine to answer, well and badly; a request picks one by its model name.

`{"model": "fake-no-terminal-chunk"}` is answered by SCENARIOS["no-terminal-chunk"].  A test that
needs something else passes its own answer to the engine instead.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tests.fakes.answers import (
    Answer,
    Close,
    Pause,
    Reset,
    Send,
    Stall,
    after,
    apart,
    cut,
    first_bytes,
    gzipped,
    json_answer,
    stream,
    then_close,
    trickle,
    until_close,
)
from tests.fakes.events import (
    DONE,
    calls,
    chat_body,
    comment,
    completion_body,
    completion_event,
    embeddings_body,
    engine_error,
    finish,
    frame,
    role,
    says,
    talk,
    thinks,
    usage,
)

WORDS = ("Hello", " there", ".")
TALK = tuple(talk(WORDS))
PLAIN = (frame(role()), frame(says("Hello")))
"""How most streams of this file begin: a role, then one token."""


def normal(body: Any) -> Answer:
    """What a healthy engine answers: JSON, or a stream if asked; usage only if asked."""
    if not isinstance(body, dict) or not body.get("stream"):
        return json_answer(chat_body())
    wants_usage = (body.get("stream_options") or {}).get("include_usage")
    return stream(*(TALK if wants_usage else (*TALK[:-2], DONE)))


def completion(body: Any) -> Answer:
    """The same for the legacy text completions."""
    if not isinstance(body, dict) or not body.get("stream"):
        return json_answer(completion_body())
    events = [completion_event(word) for word in WORDS]
    last = completion_event("", finish_reason="stop")
    return stream(*(frame(event) for event in events), frame(last), DONE)


def embeddings(body: Any) -> Answer:
    """One short vector an input."""
    inputs = body.get("input") if isinstance(body, dict) else None
    count = len(inputs) if isinstance(inputs, list) else 1
    return json_answer(embeddings_body([(0.1, 0.2)] * count))


def _two_choices() -> Answer:
    events = [role(0), role(1), says("A"), says("B", index=1), says("a"), says("b", index=1)]
    ends = [finish(index=1), finish("length"), usage()]
    return stream(*(frame(event) for event in events + ends), DONE)


def _tool_call() -> Answer:
    pieces = ['{"ci', 'ty": "', "Par", 'is"}']
    events = [role(content=None), calls(0, name="get_weather")]
    events += [calls(0, arguments=piece) for piece in pieces]
    return stream(*(frame(event) for event in [*events, finish("tool_calls")]), DONE)


def _reasoning() -> Answer:
    events = [role(), thinks("Let me"), thinks(" think."), says("Four."), finish()]
    return stream(*(frame(event) for event in events), DONE)


def _overloaded(status: int) -> Answer:
    error = {"message": "Too busy", "type": "overloaded", "code": status}
    return json_answer({"error": error}, status=status, headers=[("Retry-After", "7")])


def _too_long() -> Answer:
    message = "request (8223 tokens) exceeds the available context size (2048 tokens)"
    error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
    return json_answer({"error": error}, status=400, headers=[("Connection", "close")])


SCENARIOS: Mapping[str, Callable[[], Answer]] = MappingProxyType(
    {
        # Silence.
        "stall-before-headers": lambda: after(Stall(), stream(*TALK)),
        "stall-before-first-token": lambda: stream(frame(role()), Stall(), *TALK[1:]),
        "stall-after-headers": lambda: stream(Stall(), *TALK),
        "stall-mid-stream": lambda: stream(*PLAIN, Stall(), *TALK[2:]),
        "stall-before-json": lambda: after(Stall(), json_answer(chat_body())),
        "slow-headers": lambda: trickle(json_answer(chat_body()), 16),
        "paced": lambda: stream(*(part for event in TALK for part in (event, Pause(0.01)))),
        # Broken connections.
        "close-before-headers": lambda: (Close(),),
        "reset-before-headers": lambda: (Reset(),),
        "reset-mid-stream": lambda: stream(*apart(*PLAIN), end=(Reset(),)),
        "reset-mid-json": lambda: first_bytes(json_answer(chat_body()), 120, Reset()),
        "short-json": lambda: first_bytes(json_answer(chat_body()), 120, Close()),
        "no-terminal-chunk": lambda: stream(*apart(*PLAIN), end=(Close(),)),
        "no-terminal-chunk-after-done": lambda: stream(*apart(*TALK), end=(Close(),)),
        "half-frame": lambda: stream(*PLAIN, frame(says(" there"))[:40], end=(Close(),)),
        "half-frame-clean-end": lambda: stream(*PLAIN, frame(says(" there"))[:40]),
        "until-close": lambda: until_close(*TALK),
        "closes-keep-alive": lambda: then_close(json_answer(chat_body())),
        "not-http": lambda: (Send(b"\x00\x01 nonsense\r\n\r\n"), Close()),
        # Odd cuts.
        "two-events-in-a-chunk": lambda: stream(TALK[0] + TALK[1], TALK[2] + TALK[3], *TALK[4:]),
        "all-in-one-chunk": lambda: stream(b"".join(TALK)),
        "event-in-ten-chunks": lambda: stream(
            TALK[0], *apart(*cut(TALK[1], -(-len(TALK[1]) // 10))), *TALK[2:]
        ),
        "byte-by-byte": lambda: stream(*cut(b"".join(TALK), 1)),
        "split-utf8": lambda: stream(
            TALK[0], *apart(*cut(frame(says("naïve 你好 🦊")), 1)), *TALK[4:]
        ),
        # Other dialects of the same protocol.
        "crlf": lambda: stream(*(event.replace(b"\n", b"\r\n") for event in TALK)),
        "no-blank-after-data": lambda: stream(
            *(event.replace(b"data: ", b"data:", 1) for event in TALK)
        ),
        "comments": lambda: stream(comment(), TALK[0], comment("keep-alive"), *TALK[1:]),
        "no-done": lambda: stream(frame(role()), frame(says("Hello")), frame(finish())),
        "usage-in-last-chunk": lambda: stream(*PLAIN, frame(finish(usage=usage()["usage"]))),
        "two-choices": _two_choices,
        "tool-call": _tool_call,
        "reasoning": _reasoning,
        # Failures that look like success.
        "error-then-done": lambda: stream(*PLAIN, frame(engine_error()), DONE),
        "error-first-then-done": lambda: stream(frame(engine_error()), DONE),
        "error-then-close": lambda: stream(*apart(*PLAIN, frame(engine_error())), end=(Close(),)),
        "empty-stream": stream,
        "done-only": lambda: stream(DONE),
        "json-for-stream": lambda: json_answer(chat_body()),
        "bad-json-event": lambda: stream(*PLAIN, b"data: {not json}\n\n", DONE),
        "bad-json": lambda: json_answer(b"{not json}"),
        # Plain failures.
        "busy-503": lambda: _overloaded(503),
        "busy-429": lambda: _overloaded(429),
        "too-long": _too_long,
        "text-500": lambda: json_answer(
            b"Traceback: /srv/engine.py", status=500, headers=[("X-Internal", "1")]
        ),
        # Size and coding.
        "huge-json": lambda: json_answer(chat_body("x" * (24 << 20))),
        "huge-event": lambda: stream(TALK[0], frame(says("x" * (24 << 20))), *TALK[4:]),
        "gzip": lambda: gzipped(chat_body()),
    }
)
