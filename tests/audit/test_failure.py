import pytest

from tidegate.audit import (
    LedgerBusy,
    LedgerDamaged,
    LedgerFailed,
    LedgerLocked,
    RecordError,
)


@pytest.mark.parametrize("kind", [LedgerBusy, LedgerDamaged, LedgerLocked])
def test_every_fault_of_the_log_is_a_ledger_failure(kind: type[Exception]) -> None:
    assert issubclass(kind, LedgerFailed)


def test_a_faulty_record_is_not_the_logs_fault() -> None:
    assert not issubclass(RecordError, LedgerFailed)
