"""One run of the load generator against one server, with what it cost that server."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.process import pinned

LOAD = Path(__file__).parent / "native" / "load"


@dataclass(frozen=True, slots=True)
class Pattern:
    """What to send: see native/load.c for each."""

    connections: int = 16
    seconds: float = 1.6
    warm_up: float = 0.4
    rate: float = 0.0
    """Requests a second; 0 is a closed loop."""
    stream: bool = False
    model: str = "fake-64-0"
    prompt: int = 400
    drain: float = 30.0

    def arguments(self, port: int) -> list[str]:
        """The command line of one run."""
        given: Mapping[str, object] = {
            "-p": port,
            "-c": self.connections,
            "-d": self.seconds,
            "-w": self.warm_up,
            "-r": self.rate,
            "-m": self.model,
            "-b": self.prompt,
            "-D": self.drain,
        }
        flags = [str(part) for item in given.items() for part in item]
        return [str(LOAD), *flags, *(["-s"] if self.stream else [])]


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one run."""

    figures: Mapping[str, float]
    """Flat: "latency_us.p50", "cpu_us_request", …; what did not occur is left out."""
    sent: int
    """Requests begun in all, warm-up and end included."""
    failures: int
    """Broken connections, streams without [DONE], answers other than 200."""
    metered: tuple[float, float]
    """What the meter showed at the start and end of the counted time, connections open."""

    def figure(self, name: str) -> float | None:
        """A figure, or None if this run has none of that name."""
        return self.figures.get(name)


def flat(report: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The numbers of a nested report under dotted names."""
    found: dict[str, float] = {}
    for name, value in report.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        elif value is not None:
            found[prefix + name] = float(value)
    return found


def run(pattern: Pattern, port: int, core: int, meter: Callable[[], float] = lambda: 0.0) -> Run:
    """Send a pattern to a port; `meter` is read at the start and end of the counted time.

    If the meter tells seconds of CPU, the figures `cpu_us_request` and `cpu_us_event` are right.
    """
    with pinned(core):
        process = subprocess.Popen(pattern.arguments(port), stdout=subprocess.PIPE)
    time.sleep(pattern.warm_up)
    before, started = meter(), time.monotonic()
    time.sleep(pattern.seconds)
    after, ended = meter(), time.monotonic()
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"load ended with status {process.returncode}")
    report = json.loads(output)
    figures = flat(report)
    # The window that CPU was measured over is a little longer than the counted one.
    cpu_us = (after - before) * report["elapsed"] / (ended - started) * 1e6
    for name, count in (("request", report["requests"]), ("event", report["events"])):
        if count:
            figures[f"cpu_us_{name}"] = cpu_us / count
    return Run(figures, report["sent"], report["errors"] + report["bad_status"], (before, after))
