"""The servers of the bench and how each is started."""

import json
import os
import shutil
import sys
from pathlib import Path

from tests.bench.process import Child, free_port

HERE = Path(__file__).parent
TIDEGATE = str(Path(sys.executable).with_name("tidegate"))
"""The command of the environment that runs the bench."""
NGINX = """
worker_processes 1; daemon off; {user}
pid {folder}/nginx.pid; error_log {folder}/nginx.error warn;
events {{ worker_connections 8192; }}
http {{
  access_log off; client_max_body_size 64m; client_body_buffer_size 1m;
  keepalive_requests 100000000; keepalive_timeout 600s;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream engine {{ server 127.0.0.1:{upstream}; keepalive 2048; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; tcp_nodelay on;
    }}
  }}
}}
"""


def fake_upstream(folder: Path) -> Child:
    """The C program that answers like an engine."""
    port = free_port()
    return Child("fakeup", [str(HERE / "native" / "fakeup"), str(port)], port, folder)


def otlp_sink(folder: Path) -> Child:
    """The receiver that Tidegate exports its spans to."""
    port = free_port()
    command = [sys.executable, str(HERE / "sink.py"), str(port), str(folder / "exports")]
    return Child("sink", command, port, folder)


def plain_proxy(folder: Path, upstream: int) -> Child:
    """The bare aiohttp reverse proxy: what the budgets are ratios to."""
    port = free_port()
    command = [sys.executable, str(HERE / "plain.py"), str(port), str(upstream)]
    return Child("plain", command, port, folder)


def nginx(folder: Path, upstream: int) -> Child | None:
    """One nginx worker without buffering; None where nginx is not installed."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        return None
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    text = NGINX.format(folder=folder, port=port, upstream=upstream, user=user)
    (folder / "nginx.conf").write_text(text)
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    return Child("nginx", command, port, folder)


def configuration(folder: Path, port: int, upstream: int, otlp: int | None) -> dict[str, object]:
    """A tidegate.yaml with the default policy, audit and, if there is a sink, telemetry."""
    telemetry = (
        {}
        if otlp is None
        else {
            "telemetry": {
                "otlp": {"endpoint": f"http://127.0.0.1:{otlp}", "protocol": "http/protobuf"}
            }
        }
    )
    return {
        "listeners": {"main": {"host": "127.0.0.1", "port": port}},
        "admin": {"host": "127.0.0.1", "port": free_port()},
        "engines": {"fake": {"url": f"http://127.0.0.1:{upstream}", "kind": "openai"}},
        "pools": {"main": {"engines": ["fake"], "health": {"path": "/health", "interval": "5s"}}},
        "routes": {"bench": {"models": ["fake-*"], "pool": "main", "policy": "default"}},
        "policies": {"default": {"pack": "default"}},
        "audit": {"dir": str(folder / "audit")},
        "access": {"anonymous": True},
    } | telemetry


def tidegate(folder: Path, upstream: int, otlp: int | None) -> Child:
    """Tidegate with everything on, one worker."""
    port = free_port()
    file = folder / "tidegate.yaml"
    # JSON is YAML.
    file.write_text(json.dumps(configuration(folder, port, upstream, otlp), indent=2))
    return Child("tidegate", [TIDEGATE, "serve", "-c", str(file)], port, folder)
