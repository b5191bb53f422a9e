import subprocess
import sys

import tidegate


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidegate.proxy", "--version"],
        capture_output=True,
        check=False,
        text=True,
    )

    assert (done.returncode, done.stdout) == (0, f"tidegate {tidegate.__version__}\n")
