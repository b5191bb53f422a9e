"""The commands in docs/audit.md do what it says."""

import re
import subprocess
from pathlib import Path

from tests.audit.logs import write_log

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"


def recipe() -> str:
    found = re.search(r"\n    cd DIR\n((?:    .*\n)+)", PAGE.read_text())
    assert found
    return found[1]


def test_a_checkpoint_is_verified_with_the_tools_of_any_machine(tmp_path: Path) -> None:
    write_log(tmp_path, 1)
    run = subprocess.run(["sh", "-ec", recipe()], cwd=tmp_path, capture_output=True, check=False)
    path = tmp_path / "checkpoint"
    path.write_text(path.read_text().replace("\n5\n", "\n4\n"))
    bad = subprocess.run(["sh", "-ec", recipe()], cwd=tmp_path, capture_output=True, check=False)

    assert (run.returncode, bad.returncode) == (0, 1)
