"""The command that keeps the documentation current."""

import runpy
import sys
from pathlib import Path

import pytest

from tidegate.proxy.config.__main__ import main
from tidegate.proxy.config.reference import BEGIN, END, render


def test_pages_are_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")

    assert main([str(page)]) == 0
    assert page.read_text("utf-8") == f"{BEGIN}\n\n{render()}\n{END}\n"


def test_it_runs_as_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["config"])
    monkeypatch.delitem(sys.modules, "tidegate.proxy.config.__main__")
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("tidegate.proxy.config", run_name="__main__")

    assert caught.value.code == 0
