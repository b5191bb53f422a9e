from pathlib import Path

import pytest
from tests.bench import features
from tests.fakes.events import DONE, frame, says, usage


def test_the_text_of_a_stream_is_that_of_its_deltas() -> None:
    sse = b"".join((frame(says("ab")), frame(says("c")), frame(usage()), DONE)).decode()

    assert features.streamed_text(sse) == "abc"


def test_the_planted_secret_stands_nowhere_in_one_piece_in_the_c_program() -> None:
    source = Path(features.__file__).with_name("native") / "fakeup.c"

    assert features.PLANTED not in source.read_text()


@pytest.mark.parametrize(
    ("output", "status", "count"),
    [
        ("requests     3 decisions, 2 completions, 1 aborted, 0 in flight", 0, 0),
        ("requests     3 decisions, 3 completions, 0 aborted, 0 in flight", 1, 1),
        ("requests     3 decisions, 2 completions, 0 aborted, 1 in flight", 0, 1),
        ("requests     2 decisions, 2 completions, 0 aborted, 0 in flight", 0, 1),
        ("no log", 3, 2),
    ],
)
def test_an_audit_log_must_verify_and_hold_every_request_twice(
    monkeypatch: pytest.MonkeyPatch, output: str, status: int, count: int
) -> None:
    monkeypatch.setattr(features, "verify", lambda _: (status, output))

    assert count == len(features.audit_faults(Path("log"), 3))


def test_the_logs_of_several_workers_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "requests     1 decisions, 1 completions, 0 aborted, 0 in flight\n"
    monkeypatch.setattr(features, "verify", lambda _: (0, line * 2))

    assert features.audit_faults(Path("log"), 2) == []
