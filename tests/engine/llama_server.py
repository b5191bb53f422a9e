"""Serves one GGUF file with llama.cpp's own HTTP server until the process is ended.

Run as `python llama_server.py MODEL.gguf PORT`.  One thread: with more, llama.cpp's threads spin
at their barriers and a machine of two busy cores falls to a tenth of the speed.
"""

import sys
import threading
from pathlib import Path

import xllamacpp

CONTEXT = 2048
"""Tokens in all; two slots share them, so a conversation may have half."""
ALIAS = "smollm2-135m"
TEMPLATE = Path(__file__).with_name("tool_calls.jinja")


def main(model: str, port: int) -> None:
    """Load the model and serve it; returns never."""
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {ALIAS}
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_ctx = CONTEXT
    settings.n_parallel = 2
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    settings.endpoint_metrics = True
    settings.endpoint_slots = True
    settings.use_jinja = True
    settings.chat_template = TEMPLATE.read_text()
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"listening on {server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
