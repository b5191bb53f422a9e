"""Detectors of a configuration, some of them made up for these tests."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.proxy.config.files import MINIMAL, loaded

from tidegate.detectors import Finding, Segment, registry
from tidegate.detectors.options import Options as Base
from tidegate.detectors.options import TextFile
from tidegate.proxy.config import ConfigError
from tidegate.proxy.config import Detector as Settings
from tidegate.proxy.detection import DETECTORS, LONGEST, Folder, active, load_detectors


class Words:
    """Finds the words of a file."""

    name = "words"
    version = "1"
    kinds = frozenset({"word.any"})

    class Options(Base):
        file: TextFile
        most: int = 5
        key: SecretStr | None = None

    def __init__(self, options: Options) -> None:
        self.options = options
        if options.most > 9:
            raise ValueError("most and file do not fit\nmore")

    def find(self, segment: Segment) -> list[Finding]:
        return []


class Broken(Words):
    name = "broken"

    class Options(Base):
        pass

    def __init__(self, options: Options) -> None:
        raise ModuleNotFoundError("No module named 'spacy'")


class Silent(Broken):
    name = "silent"

    def __init__(self, options: Broken.Options) -> None:
        raise KeyError


MADE_UP = (Words, Broken, Silent)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.installed()
    here = {m.name: (EntryPoint(m.name, f"{__name__}:{m.__name__}", "g"),) for m in MADE_UP}
    makers = {m.name: m for m in MADE_UP}
    real = registry.maker
    monkeypatch.setattr(registry, "installed", lambda: {**known, **here})
    monkeypatch.setattr(registry, "maker", lambda n, k: makers[n] if n in makers else real(n, k))


def mistakes(folder: Path, detectors: str) -> list[str]:
    config = loaded(folder, MINIMAL + f"detectors: {{pii: {{enabled: false}}, {detectors}}}\n")
    with pytest.raises(ConfigError) as caught:
        load_detectors(config)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def test_those_that_come_along_are_used_unless_they_are_switched_off() -> None:
    off, named = Settings(enabled=False), Settings()

    assert list(active({})) == list(DETECTORS)
    assert list(active({"x": named, "pii": off})) == ["secrets", "injection", "x"]


def test_detectors_are_made_in_the_order_they_are_asked(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one\ntwo\n")
    text = "detectors: {words: {options: {file: list.txt, most: 3}}, pii: {enabled: false}}\n"
    made = load_detectors(loaded(tmp_path, MINIMAL + text))

    assert [detector.name for detector in made] == ["secrets", "injection", "words"]
    assert isinstance(made[2], Words)
    assert (made[2].options.file.text, made[2].options.most) == ("one\ntwo\n", 3)


def test_options_can_be_set_by_variables(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one")
    variables = {
        "TIDEGATE_DETECTORS__WORDS__OPTIONS__FILE": "list.txt",
        "TIDEGATE_DETECTORS__PII__ENABLED": "false",
    }
    made = load_detectors(loaded(tmp_path, MINIMAL, variables))

    assert [detector.name for detector in made] == ["secrets", "injection", "words"]


def test_without_a_configuration_there_are_those_that_come_along() -> None:
    assert [detector.name for detector in load_detectors()] == list(DETECTORS)


def test_mistakes_in_options_are_told_with_their_place(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "words: {options: {file: list.txt, mots: 3, most: many}}") == [
        (
            "tidegate.yaml:5:60: detectors.words.options.file is 'list.txt',"
            " list.txt: No such file or directory, correct the path or the file"
        ),
        (
            "tidegate.yaml:5:70: detectors.words.options.mots is unknown,"
            " detectors.words.options has no such key, did you mean 'most'?"
        ),
        (
            "tidegate.yaml:5:85: detectors.words.options.most is 'many',"
            " it must be a whole number, write digits only"
        ),
    ]


def test_a_secret_option_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one")
    [told] = mistakes(tmp_path, "words: {options: {file: list.txt, key: [hush]}}")

    assert "detectors.words.options.key is not usable" in told


@pytest.mark.parametrize(
    ("detectors", "told"),
    [
        ("wrods: {}", "there is no detector of that name, did you mean 'words'?"),
        ("words: {options: {file: list.txt, most: 10}}", "most and file do not fit, correct"),
        ("broken: {}", "ModuleNotFoundError: No module named 'spacy', install what it needs"),
        ("silent: {}", "KeyError: no reason given, install what it needs"),
    ],
)
def test_what_cannot_be_made_is_told_at_its_name(
    tmp_path: Path, detectors: str, told: str
) -> None:
    (tmp_path / "list.txt").write_text("one")
    [problem] = mistakes(tmp_path, detectors)
    name = detectors.partition(":")[0]

    assert problem.startswith(f"tidegate.yaml:5:36: detectors.{name} cannot be used, {told}")


def test_options_of_a_detector_that_takes_none_are_a_mistake(tmp_path: Path) -> None:
    [problem] = mistakes(tmp_path, "secrets: {options: {a: 1}}")

    assert problem.endswith(
        "detectors.secrets.options is set, the detector takes no options, remove it"
    )


def test_files_are_read_from_a_folder_to_a_limit(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbfone")
    (tmp_path / "bad").write_bytes(b"a\xff")
    (tmp_path / "long").write_bytes(b"a" * (LONGEST + 1))

    assert folder.text("marked") == "one"
    assert folder.path("bad") == tmp_path / "bad"
    for name, why in (("bad", "byte 1 of"), ("long", "over 16 MiB"), ("none", "No such file")):
        with pytest.raises(ValueError, match=why):
            folder.text(name)
    with pytest.raises(ValueError, match="directory"):
        folder.path(".")
