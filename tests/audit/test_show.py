from importlib import import_module
from pathlib import Path

import pytest
from tests.audit.logs import changed, lines_of, put_lines, records_of, write_log

from tidegate.audit import show
from tidegate.audit.frame import framed
from tidegate.audit.tree import leaf_hash

module = import_module("tidegate.audit.show")  # the package's `show` is the function


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_log(tmp_path / "log", 5)
    return tmp_path / "log"


def test_a_request_is_shown_with_its_ending(log: Path) -> None:
    assert records_of(log)[6:8] == show(log, "req-2")


def test_a_request_is_found_by_its_records_id(log: Path) -> None:
    assert show(log, records_of(log)[6]["id"]) == records_of(log)[6:8]


def test_a_request_is_found_in_any_log_of_a_folder(log: Path) -> None:
    write_log(log.parent / "other", 5)

    assert [record["n"] for record in show(log.parent, "req-2")] == [6, 7, 6, 7]


@pytest.mark.parametrize("wanted", ["req-9", "", "req", "llm.decision", "acme", "\udcff"])
def test_what_is_no_request_is_not_shown(log: Path, wanted: str) -> None:
    assert show(log, wanted) == []


def test_lines_that_are_not_whole_are_passed_over(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:6], lines[6].replace(b"allow", b"block"), *lines[7:]])

    assert show(log, "req-2") == []


def test_records_of_another_shape_are_passed_over(log: Path) -> None:
    lines = lines_of(log)
    deep = b'{"id":"x","k":"llm.decision","log":"x","n":6,"req":' + b"[" * 2000 + b"]" * 2000
    odd = [
        changed(lines[6], req="req-2"),
        changed(lines[6], n="req-2"),
        changed(lines[6], req={"id": ["req-2"]}),
        framed(deep + b',"x":"req-2"}', leaf_hash(deep + b',"x":"req-2"}')),
    ]
    put_lines(log, odd)

    assert show(log, "req-2") == []


def test_what_was_given_up_is_not_shown(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, lines[:8])
    (log / "wal" / "000000000006.jsonl").write_bytes(b"".join(lines[6:]))

    assert [record["n"] for record in show(log, "req-2")] == [6, 7]


def test_what_is_shown_is_bounded(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SHOWN", 1)

    assert [record["n"] for record in show(log, "req-2")] == [6]


def test_a_damaged_ending_is_passed_over(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:7], lines[7].replace(b"200", b"201"), *lines[8:]])

    assert [record["n"] for record in show(log, "req-2")] == [6]


def test_an_id_that_stands_elsewhere_names_nothing(log: Path) -> None:
    lines = lines_of(log)
    put_lines(log, [*lines[:6], changed(lines[7], why="req-2", ref="x", n=6), *lines[7:]])

    assert show(log, "req-2") == []
