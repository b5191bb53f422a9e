"""Records, logs, faulty disks and clocks for the tests of the audit log."""

import asyncio
import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from tidegate.audit import (
    Checkpoint,
    Closing,
    Find,
    Ledger,
    Limits,
    Opening,
    Principal,
    Request,
    Signer,
)
from tidegate.audit.files import PosixFiles
from tidegate.audit.frame import framed, record_of
from tidegate.audit.tree import leaf_hash, root_of

ORIGIN = "gateway.example/audit/1"


class SetClock:
    """Time stands still until it is moved."""

    def __init__(self) -> None:
        self.now_us = 1_800_000_000_000_000
        self.seconds = 1000.0

    def wall_us(self) -> int:
        return self.now_us

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
        self.now_us += int(seconds * 1_000_000)


class FaultyFiles(PosixFiles):
    """The real files, but for what the test wants to go wrong."""

    def __init__(self) -> None:
        self.short = 0
        """Longest write, in bytes; 0 is no limit."""
        self.room = -1
        """Bytes until the disk is full; -1 is no limit."""
        self.failing: dict[str, int] = {}
        """Operation → how many more times it fails."""
        self.calls: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.after: Callable[[], None] | None = None
        """Called once behind the next sync."""

    def fail(self, operation: str, times: int = 1) -> None:
        self.failing[operation] = times

    def _enter(self, operation: str) -> None:
        self.calls.append(operation)
        left = self.failing.get(operation, 0)
        if left:
            self.failing[operation] = left - 1
            raise OSError(errno.EIO, "Input/output error")

    def create(self, path: Path) -> int:
        self._enter("create")
        return super().create(path)

    def append_to(self, path: Path) -> int:
        self._enter("append_to")
        return super().append_to(path)

    def write(self, fd: int, data: memoryview) -> int:
        self._enter("write")
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        size = len(data)
        if self.short:
            size = min(size, self.short)
        if self.room > 0:
            size = min(size, self.room)
            self.room -= size
        return super().write(fd, data[:size])

    def sync(self, fd: int) -> None:
        self.entered.set()
        self.gate.wait(10)
        self._enter("sync")
        super().sync(fd)
        if self.after:
            after, self.after = self.after, None
            after()

    def unlink(self, path: Path) -> None:
        self._enter("unlink")
        super().unlink(path)


def opening(request_id: str = "req-1", act: str = "allow") -> Opening:
    return Opening(
        req=Request(id=request_id, api="openai", op="chat", stream=True, bytes=120),
        act=act,
        who=Principal(tenant="acme", key="k-1"),
        find=[Find(det="pii", verdict="pass", dur=40)],
    )


def closing(ref: str) -> Closing:
    return Closing(ref=ref, code=200, st="complete")


async def converse(ledger: Ledger, count: int, first: int = 0) -> None:
    """Append `count` requests, each with its ending."""
    for i in range(first, first + count):
        asked = opening(f"req-{i}")
        await ledger.append(asked)
        await ledger.append(closing(asked.id))


def write_log(directory: Path, requests: int = 10, *, limits: Limits | None = None) -> None:
    """A log of one run, cleanly closed: genesis, open, two records a request, close."""

    async def run() -> None:
        ledger = Ledger.open(directory, origin=ORIGIN, limits=limits)
        await converse(ledger, requests)
        await ledger.close()

    asyncio.run(run())


def segments(directory: Path) -> list[Path]:
    return sorted((directory / "wal").glob("*.jsonl"))


def lines_of(directory: Path) -> list[bytes]:
    return [line for path in segments(directory) for line in path.read_bytes().splitlines(True)]


def records_of(directory: Path) -> list[dict[str, Any]]:
    return [orjson.loads(record_of(line)) for line in lines_of(directory)]


def kinds_of(directory: Path) -> list[str]:
    return [record["k"] for record in records_of(directory)]


def put_lines(directory: Path, lines: list[bytes]) -> None:
    """Replace the only segment's lines."""
    (directory / "wal" / "000000000000.jsonl").write_bytes(b"".join(lines))


def changed(line: bytes, **fields: Any) -> bytes:
    """The line with fields changed and its frame made to fit."""
    record = orjson.loads(record_of(line)) | fields
    encoded = orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    return framed(encoded, leaf_hash(encoded))


def renumbered(lines: list[bytes]) -> list[bytes]:
    return [changed(line, n=n) for n, line in enumerate(lines)]


def signer_of(directory: Path) -> Signer:
    return Signer.parse((directory / "log.key").read_text().strip())


def checkpoint_at(directory: Path, size: int) -> Checkpoint:
    """The checkpoint over the first records as they are on disk."""
    leaves = [leaf_hash(record_of(line)) for line in lines_of(directory)[:size]]
    return Checkpoint(ORIGIN, size, root_of(leaves))


def sign_only(directory: Path, *sizes: int) -> None:
    """Put checkpoints of these sizes, and no others, in the log's folder."""
    signer = signer_of(directory)
    signed = [signer.sign(checkpoint_at(directory, size)) for size in sizes]
    (directory / "checkpoint").write_text(signed[-1])
    (directory / "checkpoints.log").write_text("".join(note + "\n" for note in signed))
