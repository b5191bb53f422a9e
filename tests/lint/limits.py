"""Fails when a file is too long: a file holds one idea, and its end can still be seen.

Run as `python tests/lint/limits.py` at the root of the tree.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = ("proxy", "policies", "detectors", "telemetry", "audit")
SOURCE_LINES = 400
TEST_LINES = 600
SUFFIXES = (".py", ".c")


def too_long(root: Path) -> Iterator[str]:
    """A sentence for each file over its limit."""
    for folder in (*SOURCE, "tests"):
        limit = TEST_LINES if folder == "tests" else SOURCE_LINES
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                lines = path.read_text().count("\n")
                if lines > limit:
                    yield f"{path.relative_to(root)}: {lines} lines, allowed are {limit}"


if __name__ == "__main__":
    found = list(too_long(Path.cwd()))
    sys.stdout.writelines(f"{line}\n" for line in found)
    sys.exit(1 if found else 0)
