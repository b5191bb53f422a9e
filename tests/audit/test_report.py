import pytest

from tidegate.audit.report import MAX_FINDINGS, Fault, Finding, Report


@pytest.mark.parametrize(
    ("faults", "code"),
    [
        ([], 0),
        ([Fault.TORN, Fault.GAP], 0),
        ([Fault.TORN, Fault.UNPAIRED], 2),
        ([Fault.UNSIGNED], 2),
        ([Fault.UNREADABLE, Fault.UNPAIRED], 3),
        ([Fault.UNREADABLE, Fault.EDIT, Fault.GAP], 1),
    ],
)
def test_the_worst_finding_gives_the_exit_code(faults: list[Fault], code: int) -> None:
    report = Report()
    for fault in faults:
        report.add(fault, "place", "detail")

    assert report.exit_code == code


@pytest.mark.parametrize(
    "fault", set(Fault) - set(map(Fault, ("torn", "gap", "unpaired", "unsigned", "unreadable")))
)
def test_all_else_is_tampering(fault: Fault) -> None:
    report = Report()
    report.add(fault, "place", "detail")

    assert report.exit_code == 1


def test_findings_are_bounded_and_the_worst_still_counts() -> None:
    report = Report()
    for _ in range(MAX_FINDINGS):
        report.add(Fault.TORN, "place", "detail")
    report.add(Fault.EDIT, "place", "detail")

    assert (len(report.findings), report.more, report.exit_code) == (MAX_FINDINGS, 1, 1)
    assert report.findings[0] == Finding(Fault.TORN, "place", "detail")
