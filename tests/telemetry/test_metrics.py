from typing import Any

import pytest
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from tests.telemetry.samples import START, attempt, measurement

from tidegate.telemetry import Metrics
from tidegate.telemetry.names import METRICS
from tidegate.telemetry.timings import timings

MODEL = {
    "gen_ai_operation_name": "chat",
    "gen_ai_provider_name": "vllm",
    "gen_ai_request_model": "gpt-oss",
}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def observe(metrics: Metrics, **changes: Any) -> None:
    m = measurement(**changes)
    metrics.observe(m, timings(m))


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_the_text_parses_and_has_every_metric_of_the_table(metrics: Metrics) -> None:
    observe(metrics)
    metrics.engine_up("gpu-1", up=True)
    metrics.watch_engine("gpu-1", lambda: 2.0)

    families = {f.name: f for f in text_string_to_metric_families(metrics.render().decode())}

    assert {m.name for m in METRICS} <= set(families)
    assert {m.kind for m in METRICS} == {"histogram", "counter", "gauge"}
    assert all(families[m.name].type == m.kind for m in METRICS)
    assert all(
        set(m.labels) | {"le"} >= set(sample.labels)
        for m in METRICS
        for sample in families[m.name].samples
    )
    assert "process_cpu_seconds" in families


@pytest.mark.parametrize(
    ("name", "labels", "total"),
    [
        ("gen_ai_server_request_duration_seconds", MODEL | {"error_type": ""}, 1.0),
        ("gen_ai_server_time_to_first_token_seconds", MODEL, 0.1),
        ("gen_ai_server_time_per_output_token_seconds", MODEL, 0.1),
        (
            "gen_ai_client_token_usage",
            MODEL | {"gen_ai_token_type": "input", "tidegate_usage_source": "exact"},
            120,
        ),
        (
            "gen_ai_client_token_usage",
            MODEL | {"gen_ai_token_type": "output", "tidegate_usage_source": "exact"},
            9,
        ),
        ("tidegate_time_to_first_token_seconds", {"route": "chat", "model": "gpt-oss"}, 0.104),
        ("tidegate_request_duration_seconds", {"route": "chat", "model": "gpt-oss"}, 1.0),
        ("tidegate_overhead_seconds", {"route": "chat"}, 0.093),
        ("tidegate_queue_seconds", {"route": "chat"}, 0.001),
        ("tidegate_held_bytes", {"route": "chat"}, 31),
        (
            "http_server_request_duration_seconds",
            {
                "http_request_method": "POST",
                "http_route": "/v1/chat/completions",
                "http_response_status_code": "200",
                "error_type": "",
            },
            1.0,
        ),
    ],
)
def test_a_streamed_chat_is_observed_once(
    metrics: Metrics, name: str, labels: dict[str, str], total: float
) -> None:
    observe(metrics)

    assert value(metrics, f"{name}_count", **labels) == 1
    assert value(metrics, f"{name}_sum", **labels) == pytest.approx(total)


def test_every_gap_is_observed(metrics: Metrics) -> None:
    observe(metrics)

    labels = {"route": "chat", "model": "gpt-oss"}
    assert value(metrics, "tidegate_inter_token_gap_seconds_count", **labels) == 9
    assert value(metrics, "tidegate_inter_token_gap_seconds_bucket", le="0.1", **labels) == 8


def test_ends_findings_actions_and_tries_are_counted(metrics: Metrics) -> None:
    lost = attempt(engine="gpu-0", status=0, error="connect")
    left = attempt(error="client_left")
    observe(metrics, attempts=[lost, left], outcome="client_left")

    assert value(metrics, "tidegate_requests_total", route="chat", outcome="client_left") == 1
    assert value(metrics, "tidegate_policy_actions_total", route="chat", action="redact") == 1
    assert value(metrics, "tidegate_findings_total", kind="pii.email") == 2
    name = "tidegate_engine_attempts_total"
    assert value(metrics, name, engine="gpu-0", error_type="connect") == 1
    assert value(metrics, name, engine="gpu-1", error_type="") == 1


def test_a_refused_request_has_a_duration_but_no_token_figures(metrics: Metrics) -> None:
    observe(metrics, attempts=[], outcome="blocked", status=403, gaps_ns=[])

    labels = MODEL | {"gen_ai_provider_name": "_OTHER"}
    name = "gen_ai_server_request_duration_seconds_count"
    assert value(metrics, name, error_type="blocked", **labels) == 1
    assert value(metrics, "gen_ai_server_time_to_first_token_seconds_count", **labels) == 0


def test_unknown_figures_are_not_observed(metrics: Metrics) -> None:
    observe(
        metrics,
        stream=False,
        gaps_ns=[],
        input_tokens=-1,
        output_tokens=-1,
        end_ns=START - 1,
        attempts=[attempt(first_token_ns=0)],
        tokens_estimated=True,
    )

    usage = MODEL | {"gen_ai_token_type": "input", "tidegate_usage_source": "estimated"}
    assert value(metrics, "gen_ai_client_token_usage_count", **usage) == 0
    assert value(metrics, "tidegate_held_bytes_count", route="chat") == 0
    assert value(metrics, "tidegate_overhead_seconds_count", route="chat") == 0
    assert value(metrics, "gen_ai_server_time_to_first_token_seconds_count", **MODEL) == 0


def test_what_is_no_inference_has_no_genai_figures(metrics: Metrics) -> None:
    observe(metrics, operation="", method="BREW")

    assert b"gen_ai_operation_name=" not in metrics.render()
    assert b'http_request_method="_OTHER"' in metrics.render()


def test_gauges_say_what_the_proxy_says(metrics: Metrics) -> None:
    metrics.engine_up("a", up=True)
    metrics.engine_up("b", up=False)
    metrics.watch_engine("a", lambda: 3.0)
    metrics.watch_engine("b", lambda: 7.0)
    metrics.watch_active(lambda: 11.0)
    metrics.audit_up(up=True)

    assert value(metrics, "tidegate_engine_up", engine="a") == 1
    assert value(metrics, "tidegate_engine_up", engine="b") == 0
    assert value(metrics, "tidegate_engine_in_flight", engine="a") == 3
    assert value(metrics, "tidegate_engine_in_flight", engine="b") == 7
    assert value(metrics, "http_server_active_requests") == 11
    assert value(metrics, "tidegate_audit_log_up") == 1


def test_an_engine_that_is_gone_is_forgotten(metrics: Metrics) -> None:
    metrics.engine_up("a", up=True)
    metrics.watch_engine("a", lambda: 3.0)

    metrics.forget_engine("a")

    assert value(metrics, "tidegate_engine_up", engine="a") is None
    assert value(metrics, "tidegate_engine_in_flight", engine="a") is None


def test_losses_are_counted_and_there_from_the_start(metrics: Metrics) -> None:
    metrics.dropped("export_failed", 3)

    assert value(metrics, "tidegate_telemetry_dropped_total", reason="export_failed") == 3
    assert value(metrics, "tidegate_telemetry_dropped_total", reason="queue_full") == 0


def test_the_registry_is_the_callers_never_the_global_one() -> None:
    registry = CollectorRegistry()

    assert Metrics(registry).registry is registry
    assert REGISTRY.get_sample_value("http_server_active_requests") is None
