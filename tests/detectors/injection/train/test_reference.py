import numpy as np
import pytest
from tests.detectors.injection.train.toy import BENIGN, HOSTILE

from tidegate.detectors.injection.learned.calibration import FEWEST
from tidegate.detectors.injection.learned.script import Script
from tidegate.detectors.injection.train.bags import Bags
from tidegate.detectors.injection.train.linear import Labels
from tidegate.detectors.injection.train.reference import FOLDS, Held, calibrated, held
from tidegate.detectors.injection.train.samples import Sample


def sample(text: str, at: int, attack: bool, source: str = "a") -> Sample:  # noqa: FBT001 - a label
    return Sample(text, attack, 1.0, at, source, "", "en")


def test_every_text_is_scored_by_who_did_not_learn_from_it() -> None:
    made = [sample(text, at, True) for at, text in enumerate(HOSTILE)]
    made += [sample(text, at, False) for at, text in enumerate(BENIGN)]
    told: list[str] = []
    attacks = np.array([float(s.attack) for s in made])
    labels = Labels(attacks, np.ones(len(made)), np.ones(len(made), np.int64))
    known = held(made, Bags([s.text for s in made], lambda n: None), labels, told.append)

    assert len(told) == FOLDS
    assert known.growth >= 0
    assert known.raws[attacks == 1].min() > known.raws[attacks == 0].max()


def known(sources: int) -> Held:
    """Benign texts of several sets, 1,600 each; those of the last one score high."""
    chance = np.random.default_rng(4)
    made, raws = [], []
    for source in range(sources):
        for at in range(1600):
            made.append(sample("x", at, False, f"set {source}"))
            raws.append(float(chance.normal()) + 9 * (source == sources - 1))
    return Held(made, [Script.LATIN] * len(made), np.array(raws), 0.0)


def test_a_script_with_too_few_texts_is_judged_by_all() -> None:
    curves = calibrated("caller", known(2)).curves

    assert FEWEST > 0
    assert curves["caller", Script.CJK] == curves["caller", Script.LATIN]


def test_attacks_and_disguised_copies_say_nothing_about_benign_texts() -> None:
    benign = known(2)
    odd = sample("x", 1, False)._replace(disguised=True)
    more = Held(
        [*benign.samples, sample("x", 1, True), odd],
        [*benign.scripts, Script.LATIN, Script.LATIN],
        np.append(benign.raws, [99.0, 99.0]),
        0.0,
    )

    assert calibrated("caller", more) == calibrated("caller", benign)


def test_no_set_is_most_of_a_curve() -> None:
    curves = calibrated("caller", known(3)).curves
    share = curves["caller", Script.LATIN].score(6.0)

    assert share == pytest.approx(np.log10(3) / 4, abs=0.02)
