from pathlib import Path

import pytest
from tests.detectors.injection.train.data import write_rows
from tests.detectors.injection.train.toy import BENIGN, HOSTILE

from tidegate.detectors.injection.learned import Classifier
from tidegate.detectors.injection.train import corpus
from tidegate.detectors.injection.train.run import LEARNED, SAMPLES, main


@pytest.fixture(autouse=True)
def without_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(corpus, "load", lambda data: _load(data, tmp_path / "none"))


_load = corpus.load


def folder(tmp_path: Path) -> Path:
    rows = [(text, 1, "user") for text in HOSTILE] + [(text, 0, "user") for text in BENIGN]
    documents = [(text.replace("how", "when"), 0, "data") for text in BENIGN]
    more = [(f"{text} And when was it built?", 0, kind) for text, _, kind in [*documents, *rows]]
    write_rows(tmp_path / "data" / "train" / "toy.jsonl", *rows, *documents, *more)
    write_rows(tmp_path / "data" / "eval" / "other.jsonl", ("unrelated", 0, "user"))
    return tmp_path / "data"


def test_a_training_is_the_same_to_the_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = folder(tmp_path)
    for out in ("one", "two"):
        assert main([str(data), "--date", "2026-01-02", "--out", str(tmp_path / out)]) == 0

    for name in ("weights.bin", "CARD.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert "caller: fold 4 of 4" in capsys.readouterr().err
    made = Classifier((tmp_path / "one" / "weights.bin").read_bytes())
    assert made.judge(HOSTILE[3], "caller", 0.5)


def test_a_date_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data"])


def test_the_card_that_is_shipped_is_that_of_the_weights() -> None:
    version = Classifier().version

    assert set(SAMPLES) == {"caller", "third_party"}
    assert (
        (LEARNED / "CARD.md").read_text().startswith(f"# Learned injection classifier {version}")
    )
