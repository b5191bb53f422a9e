from importlib.metadata import EntryPoint

import pytest
from pydantic import BaseModel

from tidegate.detectors import Finding, Segment
from tidegate.detectors.options import Options as Base
from tidegate.detectors.registry import GROUP, installed, make, maker, options_of
from tidegate.detectors.secrets import Secrets


class Words:
    """A detector with an option."""

    name = "words"
    version = "1"
    kinds = frozenset({"word.any"})

    class Options(Base):
        word: str = "word"

    def __init__(self, options: Options) -> None:
        self.word = options.word

    def find(self, segment: Segment) -> list[Finding]:
        return []


class Loose(Words):
    class Options(BaseModel):
        pass


class Odd(Words):
    Options = str  # type: ignore[assignment]  # the point of the test


def _entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, GROUP)


SECRETS = _entry("secrets", "tidegate.detectors.secrets:Secrets")
MISSING = _entry("broken", "no_such_package_anywhere:Detector")


def test_a_named_detector_is_imported_and_others_are_not() -> None:
    assert maker("secrets", installed([SECRETS, MISSING])) is Secrets


def test_built_in_detectors_are_installed() -> None:
    assert {"pii", "secrets", "injection"} <= set(installed())


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'pi' is not known; installed are: broken, secrets"):
        maker("pi", installed([SECRETS, MISSING]))
    with pytest.raises(ValueError, match="installed are: none"):
        maker("pi", installed([]))


def test_name_claimed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="claimed by several packages"):
        maker("secrets", installed([SECRETS, _entry("secrets", "evil:Secrets")]))


def test_same_entry_seen_twice_is_one() -> None:
    assert maker("secrets", installed([SECRETS, SECRETS])) is Secrets


def test_a_detector_without_options_is_made_without_arguments() -> None:
    assert options_of(Secrets) is None
    assert isinstance(make("secrets", Secrets), Secrets)


def test_a_detector_with_options_is_made_with_them() -> None:
    made = make("words", Words, Words.Options(word="x"))

    assert options_of(Words) is Words.Options
    assert isinstance(made, Words)
    assert made.word == "x"


@pytest.mark.parametrize(("made", "why"), [(Loose, "do not forbid"), (Odd, "no pydantic model")])
def test_options_that_would_take_anything_are_refused(made: type[Words], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        options_of(made)


def test_detector_under_a_wrong_name_is_refused() -> None:
    with pytest.raises(ValueError, match="calls itself 'secrets'"):
        make("other", Secrets)
