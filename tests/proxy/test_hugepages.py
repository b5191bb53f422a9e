import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import pytest

from tidegate.proxy import hugepages
from tidegate.proxy.hugepages import HUGE_HEAP, TUNABLES, start_over

Call = tuple[str, Sequence[str], Mapping[str, str]]


def called(environ: Mapping[str, str]) -> list[Call]:
    calls: list[Call] = []
    start_over(environ, lambda *call: calls.append(call))
    return calls


def test_the_same_command_is_run_with_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hugepages, "_has_glibc", lambda: True)
    monkeypatch.setattr(sys, "orig_argv", ["python", "-X", "utf8", "tidegate", "serve"])
    [(program, command, environ)] = called({"A": "b"})

    assert program == sys.executable
    assert command == [sys.executable, "-X", "utf8", "tidegate", "serve"]
    assert environ == {"A": "b", TUNABLES: HUGE_HEAP}


@pytest.mark.parametrize("chosen", ["", HUGE_HEAP, "glibc.malloc.check=3"])
def test_who_has_chosen_is_left_alone(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.setattr(hugepages, "_has_glibc", lambda: True)

    assert called({TUNABLES: chosen}) == []


@pytest.mark.parametrize("answer", [None, "musl", OSError, ValueError])
def test_another_c_library_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, answer: str | type[Exception] | None
) -> None:
    def confstr(_: str) -> str | None:
        if isinstance(answer, type):
            raise answer
        return answer

    monkeypatch.setattr(os, "confstr", confstr)

    assert called({}) == []


@pytest.mark.skipif(not hugepages._has_glibc(), reason="only glibc can")
def test_a_process_starts_over_once() -> None:
    script = (
        "import os; from tidegate.proxy.hugepages import start_over\n"
        "print(os.getpid(), flush=True)\n"
        "start_over(os.environ)\n"
        "print(os.environ['GLIBC_TUNABLES'])"
    )
    environ = {name: value for name, value in os.environ.items() if name != TUNABLES}
    out = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    first, second, tunables = out.stdout.split()

    assert (first, tunables) == (second, HUGE_HEAP)
