import asyncio

import pytest

from tidegate.proxy.demo.watch import KEPT_MEASUREMENTS, Notebook, span_tree
from tidegate.telemetry.measurement import Attempt, Measurement, Stage

MS = 1_000_000


def measurement(request_id: str = "r-1") -> Measurement:
    return Measurement(
        request_id=request_id,
        trace_id="a" * 32,
        span_id="b" * 16,
        parent_span_id="",
        trace_state="",
        sampled=True,
        method="POST",
        path="/v1/chat/completions",
        dialect="openai",
        operation="chat",
        route="demo",
        tenant="",
        principal="",
        model_requested="demo-model",
        model="demo-model",
        model_answered="demo-model",
        stream=False,
        status=200,
        outcome="ok",
        action="allow",
        start_ns=0,
        end_ns=90 * MS,
    )


def attempt(engine: str, start_ms: int, end_ms: int, **more: object) -> Attempt:
    made = Attempt("c" * 16, engine, "openai", "127.0.0.1", 1, start_ms * MS, end_ms * MS)
    made.status = 0 if more else 200
    made.error = str(more.get("error", ""))
    return made


def test_the_tree_is_in_order_of_start_and_says_how_each_attempt_ended() -> None:
    m = measurement()
    m.attempts = [attempt("engine-a", 2, 10, error="reset"), attempt("engine-b", 10, 89)]
    m.stages = [Stage("inspect.input", 1 * MS, 2 * MS)]
    lines = [" ".join(line.split()) for line in span_tree(m)]

    assert lines == [
        "POST /v1/chat/completions → 200 90.0 ms at +0.0 ms",
        "├─ inspect.input 1.0 ms at +1.0 ms",
        "├─ chat engine-a → reset 8.0 ms at +2.0 ms",
        "└─ chat engine-b → 200 79.0 ms at +10.0 ms",
    ]


def test_a_request_without_an_operation_is_a_call() -> None:
    m = measurement()
    m.operation = ""
    m.attempts = [attempt("engine-a", 2, 10)]

    assert "call engine-a → 200" in span_tree(m)[1]


def test_a_measurement_that_is_there_is_given() -> None:
    async def run() -> None:
        notebook = Notebook()
        notebook.settled(measurement())

        assert (await notebook.of("r-1")).request_id == "r-1"

    asyncio.run(run())


def test_a_measurement_that_comes_later_is_waited_for() -> None:
    async def run() -> None:
        notebook = Notebook()
        loop = asyncio.get_running_loop()
        loop.call_soon(notebook.settled, measurement("other"))
        loop.call_later(0.001, notebook.settled, measurement())

        assert (await notebook.of("r-1")).request_id == "r-1"

    asyncio.run(run())


def test_a_measurement_that_never_comes_is_a_timeout() -> None:
    async def run() -> None:
        with pytest.raises(TimeoutError):
            await Notebook().of("r-1", seconds=0.0)

    asyncio.run(run())


def test_only_the_last_measurements_are_kept() -> None:
    async def run() -> None:
        notebook = Notebook()
        for number in range(KEPT_MEASUREMENTS + 1):
            notebook.settled(measurement(f"r-{number}"))
        with pytest.raises(TimeoutError):
            await notebook.of("r-0", seconds=0.0)

        assert (await notebook.of("r-1")).request_id == "r-1"

    asyncio.run(run())
