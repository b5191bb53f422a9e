import pytest

from tidegate.detectors.injection.learned.script import Script
from tidegate.detectors.injection.learned.windows import LENGTHS, windows


@pytest.mark.parametrize("script", Script)
@pytest.mark.parametrize("size", [3, 75, 76, 200, 201, 481, 5000])
def test_windows_cover_the_text_and_stay_within_it(size: int, script: Script) -> None:
    seen = windows(size, script)
    covered = set()
    for start, end in zip(seen.starts, seen.ends, strict=True):
        assert 0 <= start < end <= size
        assert end - start <= LENGTHS[script][1]
        covered |= set(range(start, end))

    assert covered == set(range(size))


def test_a_short_text_is_one_window() -> None:
    assert windows(200, Script.LATIN).ends.tolist() == [200]


def test_windows_of_one_length_overlap_by_three_quarters() -> None:
    seen = windows(1000, Script.LATIN)
    short = [s for s, e in zip(seen.starts, seen.ends, strict=True) if e - s == 160]

    assert short[:4] == [0, 40, 80, 120]


def test_their_number_grows_with_the_text_and_no_faster() -> None:
    assert len(windows(16_000, Script.LATIN).starts) <= 11 * len(
        windows(1600, Script.LATIN).starts
    )


def test_a_few_characters_prove_little() -> None:
    assert windows(4, Script.LATIN).factors[0] < 1 / 4
