"""An OTLP/HTTP receiver that keeps what it gets and counts the spans when asked.

Run as `python sink.py PORT FILE`.  While the bench runs it only appends each export to FILE, so
that it takes little of the core it shares with the load; GET /count parses them all.
"""

import gzip
import json
import sys
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

LENGTH_BYTES = 4


def count_spans(exports: bytes) -> int:
    """The spans in a row of exports, each preceded by its length."""
    spans = at = 0
    while at < len(exports):
        start = at + LENGTH_BYTES
        at = start + int.from_bytes(exports[at:start], "big")
        export = ExportTraceServiceRequest.FromString(exports[start:at])
        spans += sum(len(s.spans) for r in export.resource_spans for s in r.scope_spans)
    return spans


class Handler(BaseHTTPRequestHandler):
    """Answers POST with an empty success (no bytes are a valid, empty export response)."""

    protocol_version = "HTTP/1.1"
    exports: Path

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/traces":
            coding = self.headers.get("Content-Encoding", "")
            if coding == "gzip":
                data = gzip.decompress(data)
            elif coding == "deflate":
                data = zlib.decompress(data)
            with self.exports.open("ab") as file:
                file.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
        self._answer(b"", "application/x-protobuf")

    def do_GET(self) -> None:
        stored = self.exports.read_bytes() if self.exports.exists() else b""
        self._answer(json.dumps({"spans": count_spans(stored)}).encode(), "application/json")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's signature
        """Log nothing."""

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Handler.exports = Path(sys.argv[2])
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
