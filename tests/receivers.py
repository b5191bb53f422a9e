"""Collectors for tests: real ones (oteltap, the official gRPC service) and broken ones."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc  # type: ignore[import-untyped]  # grpcio ships no type information
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from oteltap.oteltap_core import OtelTapCore, OtelTapFlags

PATIENCE = 10.0
"""Seconds until a wait is a failure; no test waits this long when things go well."""


class Received:
    """What a collector got, to be waited for."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self._changed = threading.Condition()

    def add(self, request: ExportTraceServiceRequest, headers: dict[str, str]) -> None:
        with self._changed:
            self.requests.append(request)
            self.headers.append(headers)
            self._changed.notify_all()

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for group in request.resource_spans
            for scoped in group.scope_spans
            for span in scoped.spans
        ]

    def wait(self, spans: int) -> list[Span]:
        """Return the spans as soon as there are at least this many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.spans) >= spans, PATIENCE)
            return self.spans


class _Service(TraceServiceServicer):
    def __init__(self, received: Received, gate: threading.Event) -> None:
        self._received = received
        self._gate = gate

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> Any:  # noqa: N802 - gRPC's name
        self._gate.wait(PATIENCE)
        headers = {item.key: item.value for item in context.invocation_metadata()}
        self._received.add(request, headers)
        return ExportTraceServiceResponse()


@contextmanager
def grpc_collector(*, hangs: bool = False) -> Iterator[tuple[str, Received]]:
    """Run the official TraceService; give its endpoint and what it receives."""
    received, gate = Received(), threading.Event()
    if not hangs:
        gate.set()
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool)
        register: Any = add_TraceServiceServicer_to_server  # generated, without types
        register(_Service(received, gate), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"http://127.0.0.1:{port}", received
        finally:
            gate.set()
            server.stop(None).wait()


@contextmanager
def http_collector(
    *, hangs: bool = False, status: Callable[[], int] = lambda: 200
) -> Iterator[tuple[str, Received]]:
    """Run a plain OTLP/HTTP receiver that can hang or refuse; give its base URL."""
    received, gate = Received(), threading.Event()
    if not hangs:
        gate.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            gate.wait(PATIENCE)
            code = status()
            self.send_response(code)
            self.send_header("Content-Length", "0")
            self.end_headers()
            if code == 200:
                headers = {key.lower(): value for key, value in self.headers.items()}
                headers[":path"] = self.path
                received.add(ExportTraceServiceRequest.FromString(body), headers)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        gate.set()
        server.shutdown()
        thread.join()
        server.server_close()


class HttpTap:
    """An oteltap receiver, polled from the test's own thread."""

    def __init__(self, handle: int, endpoint: str) -> None:
        self._handle = handle
        self.endpoint = endpoint

    def spans(self, count: int) -> list[Span]:
        """Return the next `count` spans."""
        spans: list[Span] = []
        until = time.monotonic() + PATIENCE
        while len(spans) < count:
            assert time.monotonic() < until, f"{len(spans)} of {count} spans came"
            _, data = OtelTapCore.oteltap_poll_trace(self._handle, 200)
            if data is not None:
                spans.append(Span.FromString(data))
        return spans


@contextmanager
def http_tap() -> Iterator[HttpTap]:
    """Run oteltap's OTLP/HTTP receiver on a free port."""
    port = free_port()
    flags = OtelTapFlags.NONE
    code, handle = OtelTapCore.oteltap_start_receiving_http_protobuf(port, flags, None, None, None)
    assert code >= 0
    try:
        yield HttpTap(handle, f"http://127.0.0.1:{port}")
    finally:
        OtelTapCore.oteltap_stop_receiving(handle)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
