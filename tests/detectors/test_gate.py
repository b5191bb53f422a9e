from typing import Any

import pytest
import re2

from tidegate.detectors.gate import Gate, LiteralGate

EXPRESSIONS = [r"\d{3}", "ab+c", "[^x]y"]


@pytest.mark.parametrize(
    ("data", "found"),
    [(b"", []), (b"12", []), (b"x 123 abbc", [0, 1]), (b"\x00", []), (b"\x00y", [2]), (b"y", [])],
)
def test_a_gate_names_what_occurs(data: bytes, found: list[int]) -> None:
    assert found == sorted(Gate(EXPRESSIONS, 1 << 20).hits(data))


def test_a_gate_without_expressions_lets_all_pass() -> None:
    assert list(Gate([], 1 << 20).hits(b"anything")) == []
    assert LiteralGate([], 1 << 20).hits(b"anything") == []


@pytest.mark.parametrize(
    ("data", "found"),
    [(b"", []), (b"ignore the rest", [1]), (b"Forget all", [0]), (b"forget, ignore", [0, 1])],
)
def test_a_literal_gate_names_what_may_occur(data: bytes, found: list[int]) -> None:
    gate = LiteralGate(["(?i)forget all|forget,", r"ignore\s+the|ignore"], 1 << 20)

    assert found == gate.hits(data)


@pytest.mark.parametrize("kind", [Gate, LiteralGate])
@pytest.mark.parametrize("expression", ["(", "(?:abcdefghijklmnop){1000}"])
def test_what_re2_cannot_run_is_refused(kind: Any, expression: str) -> None:
    with pytest.raises(ValueError, match="RE2 cannot run"):
        kind([expression], 1 << 12)


def test_a_memory_that_is_always_full_hides_nothing() -> None:
    states = "".join("kxab"[hash((i, "x")) & 3] for i in range(20_000))
    gate = Gate([r"k[kxab]{300}y", r"\d{3}-\d{2}"], 1 << 18)

    assert gate.hits(f"{states} 078-05".encode()) == [1]


@pytest.mark.parametrize(
    ("kind", "owner", "answer"),
    [
        (Gate, re2.Set, None),
        (Gate, re2.Set, [0]),
        (LiteralGate, re2.Filter, None),
        (LiteralGate, re2.Filter, [0]),
    ],
)
def test_an_automaton_that_sees_nothing_is_an_error(
    kind: Any, owner: Any, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = kind(["abc"], 1 << 20)
    monkeypatch.setattr(owner, "Match", lambda *_: answer)

    with pytest.raises(RuntimeError, match="no memory"):
        gate.hits(b"abc")
    with pytest.raises(RuntimeError, match="no memory"):
        kind(["abc"], 1 << 20)
