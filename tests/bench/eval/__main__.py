"""How good the detectors are, on data nobody trained on: `make eval DATA=../shared/data`.

One table for each family of kinds.  The exit status is 1 if a figure is under its floor; floors
lie a little under what was measured when they were set, so that what gets worse is noticed.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.bench.eval import injection

Say = Callable[[str], None]

FAMILIES: Mapping[str, Callable[[Path, Say], list[str]]] = {"injection": injection.evaluate}
"""Each says its table and returns a sentence for each floor that was missed."""


def say(line: str) -> None:
    """Tell the reader, at once also where the output is a file."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Evaluate the chosen families; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.eval", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with one folder a family")
    parser.add_argument("--only", default="", help=f"of {', '.join(FAMILIES)}")
    given = parser.parse_args()
    chosen = given.only.split(",") if given.only else list(FAMILIES)
    unknown = [name for name in chosen if name not in FAMILIES]
    if unknown:
        say(f"unknown: {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
        return 2
    faults = [f"{name}: {fault}" for name in chosen for fault in FAMILIES[name](given.data, say)]
    for fault in faults:
        say(f"MISSED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
