from tidegate.detectors import Trust
from tidegate.detectors.injection.learned.heads import HEAD_OF, HEADS, REPORTS
from tidegate.detectors.kinds import KINDS


def test_every_head_reports_a_known_kind_and_a_reason() -> None:
    assert HEADS == ("caller", "third_party")
    assert all(report.kind in KINDS and report.reason for report in REPORTS.values())


def test_all_but_the_operator_are_read() -> None:
    assert set(Trust) - set(HEAD_OF) == {Trust.OPERATOR}
    assert HEAD_OF[Trust.MODEL] == HEAD_OF[Trust.CALLER] == "caller"
