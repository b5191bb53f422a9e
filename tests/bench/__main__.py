"""What Tidegate costs, side by side with nginx and a bare aiohttp proxy: `make bench`.

The proxy under test has a core of its own; the fake engine, the load and the span receiver share
the other.  Servers take turns within every round, so that a busy machine hits all alike: read
the ratios, not the absolute figures.  The exit status is 1 if a budget is missed, a request
failed, or a feature turns out not to have run.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.bench import features, targets
from tests.bench.load import Pattern, Run, run
from tests.bench.process import Child, Cores
from tests.bench.verdict import BUDGETS, SUBJECT, missed, ratios, table

STREAMS = 400
"""Open streams whose memory is measured."""
HELD = Pattern(
    connections=STREAMS, stream=True, model="fake-1000-1000000", warm_up=0.0, seconds=5.0, drain=0
)
"""Streams of one token a second, left in the middle."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A pattern of load and the figure that is compared."""

    pattern: Pattern
    figure: str
    unit: str


def say(line: str) -> None:
    """Tell the reader, at once also where the output is a file."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def scenarios(seconds: float) -> dict[str, Scenario]:
    """The patterns of the budgets, and two that are only reported."""
    request = "us CPU a request"
    return {
        "json": Scenario(Pattern(seconds=seconds), "cpu_us_request", request),
        "json4k": Scenario(Pattern(seconds=seconds, prompt=4096), "cpu_us_request", request),
        "burst": Scenario(
            Pattern(seconds=seconds, stream=True), "cpu_us_event", "us CPU an event"
        ),
        # 20 new streams a second of 50 tokens a second for a second: 1,000 tokens a second,
        # each of which comes alone.
        "paced": Scenario(
            Pattern(
                connections=400,
                seconds=seconds + 0.4,
                warm_up=1.2,
                rate=20,
                stream=True,
                model="fake-50-20000-t",
            ),
            "cpu_us_event",
            "us CPU a token",
        ),
        "latency": Scenario(
            Pattern(connections=64, seconds=seconds, rate=300), "latency_us.p50", "us, p50"
        ),
        "relay": Scenario(
            Pattern(
                connections=400,
                seconds=seconds,
                warm_up=1.2,
                rate=20,
                stream=True,
                model="fake-50-20000-t",
            ),
            "relay_us.p50",
            "us a token, p50",
        ),
    }


@dataclass(slots=True)
class Bench:
    """The running servers and what has been measured of them."""

    cores: Cores
    upstream: Child
    servers: list[Child]
    rounds: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    sent: int = 0
    """Requests that Tidegate was sent."""
    failures: int = 0
    """Requests to Tidegate that went wrong."""

    def load(self, server: Child, pattern: Pattern) -> Run:
        """One run, counted if it went to Tidegate."""
        result = run(pattern, server.port, self.cores.rest, server.cpu_seconds)
        if server.name == SUBJECT:
            self.sent += result.sent
            self.failures += result.failures
        return result

    def note(self, scenario: str, server: str, figure: float | None) -> None:
        """Keep a figure of a round."""
        self.rounds.setdefault(scenario, {}).setdefault(server, []).append(figure)

    def memory(self, server: Child) -> float:
        """KiB of memory for each open stream, once all that is loaded late has been loaded."""
        self.load(server, Pattern(connections=8, seconds=1.0, stream=True))
        self.load(server, replace(HELD, connections=8))
        before = server.pss_kib()
        result = run(HELD, server.port, self.cores.rest, server.pss_kib)
        if server.name == SUBJECT:
            self.sent += result.sent
        return (result.metered[1] - before) / STREAMS


@contextmanager
def started(folder: Path, cores: Cores) -> Iterator[tuple[Bench, Child]]:
    """All servers, and the receiver of spans; ended on leaving."""
    with ExitStack() as stack:

        def up(child: Child, core: int) -> Child:
            stack.callback(child.stop)
            child.start(core)
            return child

        upstream = up(targets.fake_upstream(folder), cores.rest)
        sink = up(targets.otlp_sink(folder), cores.rest)
        servers = []
        reference = targets.nginx(folder, upstream.port)
        if reference is None:
            say("nginx is not installed: left out")
        else:
            servers.append(up(reference, cores.proxy))
        servers.append(up(targets.plain_proxy(folder, upstream.port), cores.proxy))
        servers.append(up(targets.tidegate(folder, upstream.port, sink.port), cores.proxy))
        yield Bench(cores, upstream, servers), sink


def measure(bench: Bench, chosen: Mapping[str, Scenario], rounds: int) -> None:
    """All rounds of the chosen scenarios; every second round in the opposite order."""
    for number in range(rounds):
        for name, scenario in chosen.items():
            if name in ("latency", "relay"):
                direct = run(scenario.pattern, bench.upstream.port, bench.cores.rest)
                bench.note(name, "no proxy", direct.figure(scenario.figure))
            for server in bench.servers[:: -1 if number % 2 else 1]:
                result = bench.load(server, scenario.pattern)
                bench.note(name, server.name, result.figure(scenario.figure))


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short rounds")
    parser.add_argument("--rounds", type=int, help="rounds of each scenario (5)")
    parser.add_argument("--only", default="", help="scenarios, such as json,burst,memory")
    parser.add_argument("--json", type=Path, help="write the figures of all rounds to a file")
    return parser.parse_args()


def main() -> int:
    """Run the bench; the exit status."""
    given = options()
    all_scenarios = scenarios(0.8 if given.quick else 1.6)
    names = given.only.split(",") if given.only else [*all_scenarios, "memory"]
    unknown = [name for name in names if name not in all_scenarios and name != "memory"]
    if unknown:
        say(f"unknown: {', '.join(unknown)}; there are {', '.join(all_scenarios)}, memory")
        return 2
    chosen = {name: all_scenarios[name] for name in names if name != "memory"}
    units = {name: s.unit for name, s in all_scenarios.items()} | {"memory": "KiB a stream"}
    cores = Cores.of_this_machine()
    if cores.proxy == cores.rest:
        say("only one core: the figures are those of servers in each other's way")
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as name:
        folder = Path(name)
        with started(folder, cores) as (bench, sink):
            for server in bench.servers:
                bench.load(server, Pattern(connections=8, seconds=1.0))
                if "memory" in names:
                    bench.note("memory", server.name, bench.memory(server))
            measure(bench, chosen, given.rounds or (2 if given.quick else 5))
            faults, probes = features.probe(bench.servers[-1].port, bench.upstream.port)
            bench.sent += probes
            bench.servers[-1].stop()  # drains, and exports what is left
            faults += features.audit_faults(folder / "audit", bench.sent)
            faults += features.span_faults(sink.port, bench.sent)
    if bench.failures:
        faults.append(f"{bench.failures} of {bench.sent} requests to Tidegate failed")
    faults += missed(bench.rounds)
    say(table(bench.rounds, units))
    if given.json:
        given.json.write_text(json.dumps(bench.rounds, indent=2))
    return report(bench, faults)


def report(bench: Bench, faults: list[str]) -> int:
    """Print the verdict; the exit status."""
    found = ratios(bench.rounds)
    say(f"\nTidegate: {bench.sent} requests")
    for scenario, budget in BUDGETS.items():
        if scenario in found and SUBJECT in found[scenario]:
            say(f"- {scenario}: {found[scenario][SUBJECT]}, budget {budget}")
    for fault in faults:
        say(f"MISSED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    began = time.monotonic()
    status = main()
    say(f"({time.monotonic() - began:.0f} s)")
    sys.exit(status)
