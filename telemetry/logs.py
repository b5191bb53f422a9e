"""The log: one JSON object a line on stderr, with fixed events and no texts of callers.

Events are dotted lower-case names ("engine.unhealthy"); facts are fields.  It is not the audit
log, and a span is not a log line.  Three processors keep texts out: events that are not of that
form, fields known to bear text, and the messages of exceptions never reach the output.

Known miss: a text put under a field name that is not listed passes, cut to 300 characters.
"""

import logging
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import PurePath
from types import TracebackType
from typing import Any, BinaryIO, Final

import orjson
import structlog
from structlog.typing import EventDict, WrappedLogger

from .context import TraceContext

TEXT_KEYS: Final = frozenset(
    {
        *("prompt", "prompts", "content", "contents", "text", "texts", "message", "messages"),
        *("body", "input", "inputs", "output", "outputs", "instructions", "arguments", "delta"),
        *("choices", "completion", "answer", "reply", "query", "document", "documents", "chunk"),
        *("tools", "payload", "data", "headers", "authorization", "cookie", "api_key"),
        *("password", "secret", "credential"),
    }
)
"""Field names whose values are never written, at any depth."""

_EVENT: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*", re.ASCII)
_EVENT_MAX: Final = 80
_VALUE_MAX: Final = 300
_DEPTH_MAX: Final = 4
_ITEMS_MAX: Final = 50
_Exc = tuple[type[BaseException], BaseException, TracebackType | None]


class Refused(ValueError):
    """A log call that would write text; raised in strict mode only."""


class RefuseText:
    """A processor that replaces what may be text of a caller or an engine."""

    def __init__(self, *, strict: bool = False) -> None:
        """Take `strict` to raise Refused instead, for tests."""
        self._strict = strict

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the event without texts."""
        phrase = event.get("event")
        if not (isinstance(phrase, str) and _is_fixed(phrase)):
            event["event"] = self._refused("event", phrase)
        for key, value in event.items():
            if key != "event":
                event[key] = self._kept(key, value, 0)
        return event

    def _kept(self, key: str, value: object, depth: int) -> object:
        if key.lower() in TEXT_KEYS:
            return self._refused(key, value)
        match value:
            case None | bool() | int() | float() | TraceContext():
                return value
            case str():
                return value if len(value) <= _VALUE_MAX else value[:_VALUE_MAX] + "..."
            case Mapping() if depth < _DEPTH_MAX:
                items = list(value.items())[:_ITEMS_MAX]
                return {str(k): self._kept(str(k), v, depth + 1) for k, v in items}
            case list() | tuple() if depth < _DEPTH_MAX:
                return [self._kept("", item, depth + 1) for item in value[:_ITEMS_MAX]]
            case _:
                return f"<{type(value).__name__}>"  # a repr may hold anything

    def _refused(self, key: str, value: object) -> str:
        if self._strict:
            raise Refused(f"log field {key!r} may bear text")
        return f"<refused: {type(value).__name__}>"


def add_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace a `trace` field (a TraceContext) by its ids, in OpenTelemetry's log field names."""
    trace = event.pop("trace", None)
    if isinstance(trace, TraceContext):
        event["trace_id"], event["span_id"] = trace.trace_id, trace.span_id
    return event


def place_of_exception(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace `exc_info` by the exception's type and place; its message may quote a prompt."""
    info = event.pop("exc_info", None)
    found = _exception(info) if info else None
    if found is not None:
        error, trace = found[1], found[2]
        event["error_type"] = f"{type(error).__module__}.{type(error).__qualname__}"
        frames = traceback.extract_tb(trace)[-8:]
        event["error_at"] = [f"{PurePath(f.filename).name}:{f.lineno}" for f in frames]
    return event


class LibraryHandler(logging.Handler):
    """Brings the standard library's log records into ours: their template, no text of arguments.

    The arguments of a record may hold anything, only numbers are taken over; the template is
    written by the library.  Known miss: a library that formats its message before logging it.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        level = max(record.levelno // 10 * 10, logging.DEBUG)
        facts: dict[str, Any] = {"logger": record.name, "template": str(record.msg)}
        if isinstance(record.args, tuple):
            facts["numbers"] = [arg for arg in record.args if isinstance(arg, int | float)]
        if record.exc_info and record.exc_info[1] is not None:
            facts["exc_info"] = record.exc_info[1]
        structlog.get_logger().log(min(level, logging.CRITICAL), "library.record", **facts)


def configure_logging(
    level: str = "info", stream: BinaryIO | None = None, *, strict: bool = False
) -> None:
    """Set up structlog and the standard library's root logger; call once, before the first line.

    `level` is one of debug, info, warning, error, critical: raises ValueError otherwise.
    """
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None or level.upper() == "NOTSET":
        raise ValueError(f"log level {level!r} is none of debug, info, warning, error, critical")
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            place_of_exception,
            RefuseText(strict=strict),
            add_trace,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.BytesLoggerFactory(stream or sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    # The sender says once when collectors fail; a line for each retry in between says no more.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    logging.basicConfig(
        level=max(number, logging.WARNING), handlers=[LibraryHandler()], force=True
    )


def _is_fixed(phrase: str) -> bool:
    return len(phrase) <= _EVENT_MAX and _EVENT.fullmatch(phrase) is not None


def _exception(info: object) -> _Exc | tuple[None, None, None] | None:
    match info:
        case BaseException():
            return type(info), info, info.__traceback__
        case (_, BaseException() as error, _):
            return type(error), error, error.__traceback__
        case _:
            return sys.exc_info() if sys.exc_info()[1] is not None else None


def _render(_logger: WrappedLogger, _method: str, event: EventDict) -> bytes:
    try:
        return orjson.dumps(event)
    except TypeError:  # an int of more than 64 bits or a lone surrogate
        return orjson.dumps({key: _ascii(value) for key, value in event.items()})


def _ascii(value: object) -> str:
    text = str(value) if isinstance(value, int | float | str) else f"<{type(value).__name__}>"
    return text.encode("ascii", "backslashreplace").decode()
