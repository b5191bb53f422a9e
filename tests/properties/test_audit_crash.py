"""Whatever moment a crash chooses: no acknowledged record is lost, no garbage is accepted."""

import random
import signal
import subprocess
import sys
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.audit.logs import (
    ORIGIN,
    FaultyFiles,
    lines_of,
    records_of,
    segments,
    sign_only,
    write_log,
)

from tidegate.audit import LedgerDamaged, verify
from tidegate.audit.layout import Folder, Identity
from tidegate.audit.recovery import Recovered, recover

SIGNED = 4
REUSED = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class QuickFiles(FaultyFiles):
    """Crashes are simulated here, so nothing needs to reach the disk."""

    def sync(self, fd: int) -> None:
        self.calls.append("sync")

    def sync_folder(self, path: Path) -> None:
        self.calls.append("sync_folder")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Nine records, of which four are under a checkpoint."""
    write_log(tmp_path, 3)
    sign_only(tmp_path, SIGNED)
    return tmp_path


def recovered(directory: Path) -> Recovered:
    folder = Folder(directory)
    identity = Identity.read(folder)
    return recover(folder, QuickFiles(), identity.log, identity.verifier())


def test_a_crash_at_every_byte_keeps_exactly_the_whole_records(log: Path) -> None:
    whole = b"".join(lines_of(log))
    ends = [0, *accumulate(map(len, lines_of(log)))]
    path = segments(log)[0]
    for cut in range(ends[SIGNED], len(whole) + 1):
        path.write_bytes(whole[:cut])
        verdict = verify(log).exit_code
        found = recovered(log)
        expected = bisect_right(ends, cut) - 1

        # A log that says it was closed, but without the last checkpoint, is incomplete.
        assert verdict == (2 if cut == len(whole) else 0)
        assert (found.tree.size, found.kept) == (expected, ends[expected])
        assert path.read_bytes() == whole[: ends[expected]]
        assert bool(found.events) == (cut != ends[expected])


@REUSED
@given(data=st.data(), sector=st.sampled_from([512, 4096]), acknowledged=st.integers(SIGNED, 9))
def test_a_power_loss_keeps_what_was_acknowledged(
    log: Path, data: st.DataObject, sector: int, acknowledged: int
) -> None:
    """Each sector behind the last sync is kept, zeroed or stale, and the length is anything."""
    path = segments(log)[0]
    whole = path.read_bytes()
    ends = [0, *accumulate(map(len, lines_of(log)))]
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    image = bytearray(whole)
    for start in range(ends[acknowledged] // sector * sector, len(whole), sector):
        low, high = max(start, ends[acknowledged]), min(start + sector, len(whole))
        lost = (bytes(high - low), chance.randbytes(high - low), whole[low:high])
        image[low:high] = chance.choice(lost)
    path.write_bytes(image[: chance.randint(ends[acknowledged], len(whole))])
    found = recovered(log)
    kept = path.read_bytes()
    path.write_bytes(whole)

    assert found.tree.size >= acknowledged
    assert kept == whole[: ends[found.tree.size]]


@REUSED
@given(data=st.data())
def test_every_flipped_bit_under_a_checkpoint_is_found(log: Path, data: st.DataObject) -> None:
    path = segments(log)[0]
    whole = path.read_bytes()
    signed = sum(map(len, lines_of(log)[:SIGNED]))
    image = bytearray(whole)
    image[data.draw(st.integers(0, signed - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(image)
    try:
        assert verify(log).exit_code == 1
        with pytest.raises(LedgerDamaged):
            recovered(log)
        assert path.read_bytes() == image
    finally:
        path.write_bytes(whole)


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.audit.logs import ORIGIN, opening
from tidegate.audit import Ledger

async def write(ledger):
    while True:
        receipt = await ledger.append(opening("r"))
        sys.stdout.write(f"{receipt.n}\\n")
        sys.stdout.flush()

async def main():
    ledger = Ledger.open(Path(sys.argv[1]), origin=ORIGIN)
    await asyncio.gather(*(write(ledger) for _ in range(20)))

asyncio.run(main())
"""


@pytest.mark.parametrize("lines", [1, 20, 333])
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, lines: int) -> None:
    acknowledged = 0
    for _ in range(2):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for _ in range(lines):
                acknowledged = max(acknowledged, int(process.stdout.readline()))
            process.send_signal(signal.SIGKILL)
            for line in process.stdout:
                if line.endswith("\n"):
                    acknowledged = max(acknowledged, int(line))
        verdict = verify(tmp_path).exit_code

        assert verdict == 0
        assert len(records_of(tmp_path)) > acknowledged
    write_log(tmp_path, 1)
    report = verify(tmp_path)

    assert report.exit_code == 0
    assert report.logs[0].decisions == report.logs[0].aborts + 1
    assert report.logs[0].origin == ORIGIN
