"""Many long streams at once for a while, through Tidegate with everything on: `make soak`.

What must hold: no request fails, every one is on record twice, the log verifies, and memory does
not grow once all streams are open.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench import features, targets
from tests.bench.load import Pattern, Run, run
from tests.bench.process import Child, Cores

STREAMS = 200
TOKENS = 500
INTERVAL_US = 40_000
"""25 tokens a second for each stream, as a busy engine gives: 5,000 a second in all."""
GROWTH_KIB = 8 << 10
"""How much more memory the proxy may hold at the end than after a quarter of the time.

In a minute some 225,000 tokens pass between the two readings, so a leak of 40 bytes a token shows.
Less would report the allocator, which keeps what a few streams ending at once have given back,
and the audit log's tree, which keeps 32 bytes a record.
"""
SETTLED = 0.25
"""The part of the time after which every stream is open and every module has been imported."""


def soak(folder: Path, seconds: float) -> tuple[Run, list[str]]:
    """One run; its figures, and what went wrong in sentences."""
    cores = Cores.of_this_machine()
    upstream = targets.fake_upstream(folder)
    proxy = targets.tidegate(folder, upstream.port, None)
    pattern = Pattern(
        connections=STREAMS,
        stream=True,
        model=f"fake-{TOKENS}-{INTERVAL_US}",
        warm_up=seconds * SETTLED,
        seconds=seconds * (1 - SETTLED),
        drain=60.0,
    )
    try:
        upstream.start(cores.rest)
        proxy.start(cores.proxy)
        result = run(pattern, proxy.port, cores.rest, proxy.pss_kib)
    finally:
        status = proxy.stop()
        upstream.stop()
    return result, faults(proxy, status, result, folder / "audit")


def faults(proxy: Child, status: int, result: Run, audit: Path) -> list[str]:
    """What went wrong, in sentences."""
    found = []
    settled, end = result.metered
    if result.failures or result.figures["unfinished"]:
        unfinished = int(result.figures["unfinished"])
        found.append(f"{result.failures} of {result.sent} requests failed, {unfinished} hung")
    if end - settled > GROWTH_KIB:
        found.append(f"memory grew by {end - settled:.0f} KiB, allowed are {GROWTH_KIB}")
    if status:
        found.append(f"{proxy.name} ended with status {status}")
    return found + features.audit_faults(audit, result.sent)


def main() -> int:
    """Run the soak; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidegate-soak-") as name:
        result, found = soak(Path(name), given.seconds)
    settled, end = (kib / 1024 for kib in result.metered)
    lines = [
        f"{result.sent} streams of {TOKENS} tokens, {STREAMS} at once",
        f"{result.figures['events_per_s']:.0f} tokens a second",
        f"memory {settled:.1f} MiB when settled, {end:.1f} MiB at the end",
        *(f"FAILED: {fault}" for fault in found),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
