"""Whatever is done to the records under a checkpoint without the key is found."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.audit.logs import changed, lines_of, put_lines, renumbered, write_log

from tidegate.audit import verify

Lines = list[bytes]


def edited(lines: Lines, chance: random.Random) -> Lines:
    place = chance.randrange(len(lines))
    return [*lines[:place], changed(lines[place], why="other"), *lines[place + 1 :]]


def deleted(lines: Lines, chance: random.Random) -> Lines:
    low = chance.randrange(len(lines))
    return lines[:low] + lines[low + chance.randint(1, 3) :]


def copied(lines: Lines, chance: random.Random) -> Lines:
    place = chance.randint(0, len(lines))
    return [*lines[:place], chance.choice(lines), *lines[place:]]


def swapped(lines: Lines, chance: random.Random) -> Lines:
    one, two = chance.sample(range(len(lines)), 2)
    out = list(lines)
    out[one], out[two] = out[two], out[one]
    return out


def backdated(lines: Lines, chance: random.Random) -> Lines:
    place = chance.randrange(len(lines))
    return [*lines[:place], changed(lines[place], t=1, t2=1), *lines[place + 1 :]]


WAYS: list[Callable[[Lines, random.Random], Lines]] = [edited, deleted, copied, swapped, backdated]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_log(tmp_path, 10)
    return tmp_path


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=3),
    seed=st.integers(0, 2**32),
    fit=st.booleans(),
)
def test_every_change_of_records_is_found(
    log: Path, ways: list[Callable[[Lines, random.Random], Lines]], seed: int, *, fit: bool
) -> None:
    original = lines_of(log)
    chance = random.Random(seed)
    lines = original
    for way in ways:
        lines = way(lines, chance) or original[:1]
    lines = renumbered(lines) if fit else lines
    put_lines(log, lines)
    verdict = verify(log).exit_code
    put_lines(log, original)

    assert verdict == (0 if lines == original else 1)
