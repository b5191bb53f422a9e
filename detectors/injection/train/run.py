"""The training as a whole: a data folder in, the artefact and its card out."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..learned.artefact import Head, version_of, write
from ..learned.calibration import Calibration
from . import card, corpus, samples
from .bags import Bags, Weights
from .linear import ROUNDS, Labels, fit
from .reference import Held, calibrated, held
from .samples import Sample

SAMPLES: dict[str, Callable[[Sequence[corpus.Text]], list[Sample]]] = {
    "caller": samples.for_caller,
    "third_party": samples.for_third_party,
}
"""What each head learns from."""

LEARNED = Path(__file__).parents[1] / "learned"
WEIGHTS = "weights.bin"
CARD = "CARD.md"

_MOST = 127
_STEPS = 10_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and write both files; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tidegate.detectors.injection.train", description=__doc__
    )
    parser.add_argument("data", type=Path, help="folder with train/*.jsonl and eval/*.jsonl")
    parser.add_argument("--date", required=True, help="what the card calls its date")
    parser.add_argument("--out", type=Path, default=LEARNED, help="where both files are written")
    given = parser.parse_args(arguments)
    known = corpus.load(given.data)
    _say(f"{len(known.texts)} texts of {len(known.sources)} sets")
    heads: dict[str, Head] = {}
    figures: dict[str, Held] = {}
    calibration = Calibration({})
    for name, make in SAMPLES.items():
        heads[name], figures[name] = _head(name, make(known.texts))
        calibration = calibrated(name, figures[name]).over(calibration)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / WEIGHTS).write_bytes(write(heads, calibration))
    text = card.written(known, figures, calibration, version_of(heads), given.date)
    (given.out / CARD).write_text(text, encoding="utf-8")
    _say(f"wrote {given.out / WEIGHTS} and {CARD}, version {version_of(heads)}")
    return 0


def _head(name: str, made: list[Sample]) -> tuple[Head, Held]:
    """Learn one head; and what is known of it."""
    size = len(made)

    def progress(number: int) -> None:
        if number % _STEPS == 0:
            _say(f"{name}: read {number} of {size} samples")

    bags = Bags([sample.text for sample in made], progress)
    labels = Labels(
        np.array([sample.attack for sample in made], np.float64),
        np.array([sample.weight for sample in made], np.float64),
        np.ones(size, np.int64),
    )
    known = held(made, bags, labels, lambda what: _say(f"{name}: {what}"))
    fitted = fit(
        bags,
        labels,
        lambda at, loss: _say(f"{name}: round {at + 1} of {ROUNDS}, loss {loss:.4f}"),
    )
    scale, weights = _quantised(fitted.weights)
    return Head(weights, scale, round(fitted.bias, 6), round(known.growth, 6)), known


def _quantised(weights: Weights) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.int8]]]:
    """The weights in one byte each, and what each is multiplied by."""
    scale = float(np.abs(weights).max()) / _MOST or 1.0
    return scale, np.rint(weights / scale).astype(np.int8)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
