"""Fails when a source file has no test of its own at the mirrored path.

proxy/stream/sse.py is tested by tests/proxy/stream/test_sse.py.  Run as
`python tests/lint/twins.py` at the root of the tree.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = ("proxy", "policies", "detectors", "telemetry", "audit")
ALONE = ("__init__.py", "__main__.py")
"""Names, and the two lines that call `main`: nothing to test."""


def missing(root: Path) -> Iterator[str]:
    """A sentence for each source file without its twin."""
    for folder in SOURCE:
        for path in sorted((root / folder).rglob("*.py")):
            if path.name in ALONE:
                continue
            source = path.relative_to(root)
            twin = Path("tests", source).with_name(f"test_{path.name}")
            if not (root / twin).is_file():
                yield f"{source}: its test {twin} is missing"


if __name__ == "__main__":
    found = list(missing(Path.cwd()))
    sys.stdout.writelines(f"{line}\n" for line in found)
    sys.exit(1 if found else 0)
