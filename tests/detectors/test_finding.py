import msgspec
import pytest

from tidegate.detectors import Finding


def test_a_finding_is_in_plain_text_unless_a_layer_is_named() -> None:
    finding = Finding("pii.card", 3, 19, 0.9, "pii.card.visa")

    assert finding.layer == ""


def test_a_finding_holds_no_text() -> None:
    expected = ("kind", "start", "end", "score", "rule", "layer")

    assert expected == Finding.__struct_fields__


def test_a_finding_does_not_change() -> None:
    finding = Finding("pii.card", 3, 19, 0.9, "pii.card.visa")

    with pytest.raises(AttributeError):
        finding.start = 0  # type: ignore[misc]  # that is the point
    assert finding == msgspec.structs.replace(finding)
