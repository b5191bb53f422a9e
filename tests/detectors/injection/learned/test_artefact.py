import numpy as np
import pytest
from tests.detectors.injection.learned.made import CURVE, artefact, head

from tidegate.detectors.injection.learned.artefact import read, version_of
from tidegate.detectors.injection.learned.script import Script


def test_it_is_read_as_it_was_written_and_written_the_same_each_time() -> None:
    known = read(artefact(0.25))

    assert artefact(0.25) == artefact(0.25)
    assert np.array_equal(known.heads["caller"].weights, head("swordfish").weights)
    assert known.heads["caller"].growth == 0.25
    assert known.calibration.curves["third_party", Script.CJK] == CURVE


def test_its_version_names_the_weights() -> None:
    one, other = read(artefact()), read(artefact(1.0))

    assert one.version == version_of(one.heads)
    assert one.version != other.version


@pytest.mark.parametrize("data", [b"", b"something else entirely, and longer than the head is"])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not an artefact"):
        read(data)
