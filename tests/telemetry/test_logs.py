import io
import logging
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import structlog
from tests.telemetry.samples import SERVER, TRACE

from tidegate.telemetry import TraceContext, configure_logging
from tidegate.telemetry.logs import TEXT_KEYS, Refused

SECRET = "my prompt about Alice"


@pytest.fixture
def log() -> Iterator[io.BytesIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.BytesIO()
    configure_logging("debug", stream)
    yield stream
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level
    logging.getLogger("opentelemetry").setLevel(logging.NOTSET)


def lines(log: io.BytesIO) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in log.getvalue().splitlines()]


def raised() -> ValueError:
    try:
        int(SECRET)
    except ValueError as error:
        return error
    raise AssertionError


def test_a_line_is_json_with_event_level_time_and_facts(log: io.BytesIO) -> None:
    structlog.get_logger().info("engine.unhealthy", engine="gpu-1", failures=3, up=False)

    (line,) = lines(log)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "engine.unhealthy",
        "level": "info",
        "engine": "gpu-1",
        "failures": 3,
        "up": False,
    }


@pytest.mark.parametrize("key", sorted(TEXT_KEYS - {"event"}))
def test_fields_known_to_bear_text_are_refused(log: io.BytesIO, key: str) -> None:
    structlog.get_logger().info("x.y", **{key: SECRET, key.upper() + "x": 1})
    structlog.get_logger().info("x.y", nested={"deep": [{key.upper(): SECRET}]})

    assert SECRET not in log.getvalue().decode()
    assert lines(log)[0][key] == "<refused: str>"
    assert lines(log)[1]["nested"] == {"deep": [{key.upper(): "<refused: str>"}]}


@pytest.mark.parametrize(
    "event", [SECRET, f"refused {SECRET}", "Engine.down", "x" * 81, "", "a b"]
)
def test_an_event_is_a_fixed_dotted_name(log: io.BytesIO, event: str) -> None:
    structlog.get_logger().info(event)

    assert lines(log)[0]["event"] == "<refused: str>"


def test_an_event_that_is_no_text_is_refused(log: io.BytesIO) -> None:
    structlog.get_logger().info({"prompt": SECRET})

    assert lines(log)[0]["event"] == "<refused: dict>"


def test_long_deep_and_foreign_values_are_cut(log: io.BytesIO) -> None:
    deep: dict[str, Any] = {"a": {"a": {"a": {"a": {"a": SECRET}}}}}
    structlog.get_logger().info("x.y", long="z" * 1000, deep=deep, thing=raised(), many=[1] * 99)

    (line,) = lines(log)
    assert line["long"] == "z" * 300 + "..."
    assert line["deep"] == {"a": {"a": {"a": {"a": "<dict>"}}}}
    assert line["thing"] == "<ValueError>"
    assert len(line["many"]) == 50


def test_a_trace_becomes_its_ids(log: io.BytesIO) -> None:
    context = TraceContext(TRACE, SERVER, "", "", 1)
    structlog.get_logger().info("x.y", trace=context)
    structlog.get_logger().info("x.y", trace="no context")

    assert lines(log)[0]["trace_id"] == TRACE
    assert lines(log)[0]["span_id"] == SERVER
    assert not {"trace", "trace_id"} & set(lines(log)[1])


def test_bound_context_is_written(log: io.BytesIO) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger().info("x.y")

    assert lines(log)[0]["request_id"] == "r-1"


def test_of_an_exception_type_and_place_are_written_never_its_message(log: io.BytesIO) -> None:
    error = raised()
    logger = structlog.get_logger()
    logger.error("x.y", exc_info=error)
    logger.error("x.y", exc_info=(type(error), error, error.__traceback__))
    try:
        raise error
    except ValueError:
        logger.exception("x.y")
    logger.error("x.y", exc_info=True)  # noqa: LOG014 - what libraries do too

    assert SECRET not in log.getvalue().decode()
    assert [line.get("error_type") for line in lines(log)] == [*["builtins.ValueError"] * 3, None]
    assert lines(log)[0]["error_at"][0].startswith("test_logs.py:")


def test_lines_below_the_level_are_not_written(log: io.BytesIO) -> None:
    configure_logging("warning", log)
    structlog.get_logger().info("x.y")

    assert lines(log) == []


def test_libraries_log_their_template_without_its_arguments(log: io.BytesIO) -> None:
    logger = logging.getLogger("aiohttp.server")
    logger.error("Error handling %s", SECRET, exc_info=raised())
    logger.log(35, "odd level", exc_info=(None, None, None))
    logger.info("too low")

    first, second = lines(log)
    assert SECRET not in log.getvalue().decode()
    assert (first["event"], first["level"]) == ("library.record", "error")
    assert (first["logger"], first["template"]) == ("aiohttp.server", "Error handling %s")
    assert first["error_type"] == "builtins.ValueError"
    assert second["level"] == "warning"


def test_of_a_librarys_arguments_numbers_are_written(log: io.BytesIO) -> None:
    logging.getLogger("a.library").error("code %s, reason %s", 503, SECRET)
    logging.getLogger("a.library").error("code %(code)s", {"code": 503})

    assert [line.get("numbers") for line in lines(log)] == [[503], None]


def test_retries_of_the_exporters_are_not_written(log: io.BytesIO) -> None:
    logging.getLogger("opentelemetry.exporter.otlp").warning("retrying")

    assert lines(log) == []


def test_what_json_cannot_carry_is_written_as_ascii(log: io.BytesIO) -> None:
    structlog.get_logger().info("x.y", big=2**80, broken="\ud800", facts=["\ud800"])

    (line,) = lines(log)
    assert line["big"] == str(2**80)
    assert line["broken"] == "\\ud800"
    assert (line["event"], line["facts"]) == ("x.y", "<list>")


def test_strict_mode_raises_so_that_tests_notice(log: io.BytesIO) -> None:
    configure_logging("info", log, strict=True)

    with pytest.raises(Refused, match="prompt"):
        structlog.get_logger().info("x.y", prompt=SECRET)
    with pytest.raises(Refused, match="event"):
        structlog.get_logger().info("Not fixed")


@pytest.mark.parametrize("level", ["loud", "notset", ""])
def test_an_unknown_level_is_refused(level: str) -> None:
    with pytest.raises(ValueError, match="log level"):
        configure_logging(level)
