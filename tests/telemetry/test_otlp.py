import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from tests.receivers import free_port, grpc_collector, http_collector

from tidegate.telemetry import otlp
from tidegate.telemetry.otlp import PublicPath, Target, open_exporter
from tidegate.telemetry.otlp_grpc import GrpcSpans
from tidegate.telemetry.otlp_http import HttpSpans


def test_the_sdks_settings_in_the_environment_apply(
    payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_collector() as (endpoint, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
        exporter = open_exporter(Target("http/protobuf"))
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert received.headers[0]["x-key"] == "abc"


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_collector_that_is_not_there_takes_nothing(
    protocol: otlp.OtlpProtocol, payload: bytes
) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    exporter = open_exporter(Target(protocol, endpoint, timeout=0.2))

    assert not exporter.send(payload, 1)
    exporter.shutdown()


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_when_a_private_name_is_gone_spans_leave_by_the_public_way(
    protocol: otlp.OtlpProtocol, payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpSpans, "ready", lambda _: False)
    monkeypatch.setattr(GrpcSpans, "ready", lambda _: False)
    collector = grpc_collector if protocol == "grpc" else http_collector
    with collector() as (endpoint, received):
        exporter = open_exporter(Target(protocol, endpoint, timeout=5))
        assert isinstance(exporter, PublicPath)
        assert exporter.send(payload, 1)
        exporter.shutdown()

    assert [span.name for span in received.spans] == [
        "POST /v1/chat/completions",
        "chat gpt-oss",
        "inspect.input",
        "wait.audit",
    ]


def test_the_public_way_says_when_a_collector_takes_nothing(payload: bytes) -> None:
    class Refuses(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> Any:
            return SpanExportResult.FAILURE

    assert not PublicPath(Refuses()).send(payload, 1)


def test_a_credential_provider_that_is_not_installed_is_a_value_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER"
    monkeypatch.setenv(name, "not-installed")

    with pytest.raises(ValueError, match="not-installed"):
        open_exporter(Target("http/protobuf", "http://127.0.0.1:9"))


def test_exporters_are_imported_only_when_used() -> None:
    code = "import sys, tidegate.telemetry; sys.exit(bool({'grpc', 'requests'} & {*sys.modules}))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
