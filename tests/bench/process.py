"""Child processes of the bench: pinned to a core, measured, and ended with the bench."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_WITHIN = 60.0
"""Seconds a child may take until it listens: a cold import of everything on a busy machine."""
STOP_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class Cores:
    """Where what runs: the proxy under test has a core of its own if there are two."""

    proxy: int
    rest: int

    @classmethod
    def of_this_machine(cls) -> "Cores":
        """The first two cores that this process may use, or one for everything."""
        usable = sorted(os.sched_getaffinity(0))
        return cls(proxy=usable[1] if len(usable) > 1 else usable[0], rest=usable[0])


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Children started inside run on this core only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    """A port of 127.0.0.1 that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Child:
    """A server process; `port` accepts connections once `start` has returned."""

    def __init__(self, name: str, command: Sequence[str], port: int, folder: Path) -> None:
        self.name = name
        self.port = port
        self.log = folder / f"{name}.log"
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, core: int) -> None:
        """Start it on a core; RuntimeError with the end of its log if it does not listen."""
        with self.log.open("wb") as log, pinned(core):
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        deadline = time.monotonic() + READY_WITHIN
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start:\n{self._tail()}")
            time.sleep(0.05)

    def stop(self) -> int:
        """End it by SIGTERM, then by SIGKILL; its exit status."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def cpu_seconds(self) -> float:
        """User and system time so far of all live threads of the process tree."""
        spent = 0
        for pid in self._tree():
            for task in _entries(f"/proc/{pid}/task"):
                spent += int((_read(task / "schedstat") or "0").split()[0])
        return spent / 1e9

    def pss_kib(self) -> int:
        """Memory of the process tree, pages shared with others counted in part (PSS)."""
        total = 0
        for pid in self._tree():
            for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        return total

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 0.5).close()
        except OSError:
            return False
        return True

    def _tree(self) -> list[int]:
        found, todo = [], [self._process.pid] if self._process else []
        while todo:
            pid = todo.pop()
            found.append(pid)
            for task in _entries(f"/proc/{pid}/task"):
                todo += [int(child) for child in _read(task / "children").split()]
        return found

    def _tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def _entries(folder: str) -> list[Path]:
    try:
        return list(Path(folder).iterdir())
    except OSError:
        return []  # the process ended meanwhile


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # the process or thread ended meanwhile
