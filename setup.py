"""Stops the build with a plain sentence when a part of the tree did not come along as a link."""

from pathlib import Path

from setuptools import setup

PARTS = ("proxy", "policies", "detectors", "telemetry", "audit")

for part in PARTS:
    if not (Path(__file__).parent / "src" / "tidegate" / part / "__init__.py").is_file():
        raise SystemExit(
            f"src/tidegate/{part} is not a link to ../../{part}. An archive tool unpacked links "
            "as text (pip does so with zip files): install from a git checkout, tar.gz, sdist or "
            "wheel."
        )

setup()
