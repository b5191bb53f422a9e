"""The gate to the audit log: two records for each request, durable when they must be.

The opening record is durable before a byte is released, the closing one before the last.  What
the client does cannot hinder a record: it is in the log's hands as soon as it is submitted.
"""

import asyncio

import structlog

from ..audit import Closing, Ledger, LedgerFailed, Opening, Receipt, RecordError
from .errors import AuditFailed
from .exchange import Exchange, monotonic
from .facts import closing, opening

_log = structlog.get_logger(__name__)


class Recorder:
    """Writes the records of exchanges to one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._openings: dict[str, asyncio.Future[Receipt]] = {}
        self._failing = False

    @property
    def healthy(self) -> bool:
        """Whether the log can be written."""
        return self._ledger.healthy

    def open(self, x: Exchange) -> None:
        """Submit the opening record, which is not wanted before the answer.

        Raises AuditFailed if the log does not take it.
        """
        record = opening(x)
        self._openings[x.id] = self._submit(record, soon=False)
        x.record_id = record.id

    async def opened(self, x: Exchange) -> None:
        """Wait until the opening record is durable.  Raises AuditFailed if it will not be."""
        future = self._openings.get(x.id)
        if future is not None:
            if not future.done():
                self._ledger.hurry()
            await self._durable(x, future)

    def close(self, x: Exchange, *, soon: bool = True) -> asyncio.Future[Receipt]:
        """Submit the closing record, after the opening one if that is still to come."""
        if not x.record_id:
            self.open(x)
        self._openings.pop(x.id, None)
        x.closed = True
        return self._submit(closing(x), soon=soon)

    async def closed(self, x: Exchange) -> None:
        """Make the closing record durable, and with it the opening.

        The log is in order, and takes no closing record of an opening that it did not take.
        """
        await self._durable(x, self.close(x))

    def abandon(self, x: Exchange) -> None:
        """Submit what records the log still takes, and wait for none.

        A client may leave while the closing record is on its way: one ending is enough.
        """
        if x.closed:
            return
        try:
            self.close(x, soon=False)
        except AuditFailed:
            self._openings.pop(x.id, None)

    def _submit(self, record: Opening | Closing, *, soon: bool) -> asyncio.Future[Receipt]:
        try:
            return self._ledger.submit(record, soon=soon)
        except LedgerFailed as error:
            self._tell_of_failure(error)
            raise _failed() from error

    async def _durable(self, x: Exchange, future: asyncio.Future[Receipt]) -> None:
        start = monotonic()
        try:
            await future  # a client that leaves cancels the wait, not the record
            if self._failing:
                self._tell_of_recovery()
        except LedgerFailed as error:
            self._tell_of_failure(error)
            raise _failed() from error
        except RecordError as error:
            raise _failed() from error
        finally:
            now = monotonic()
            x.wait_audit_ns += now - start
            x.timeline.recorded = now

    def _tell_of_failure(self, error: LedgerFailed) -> None:
        """Log, once, why nothing passes: clients are not told, and operators look here first."""
        if not self._failing:
            self._failing = True
            _log.error("audit.failing", reason=str(error))

    def _tell_of_recovery(self) -> None:
        self._failing = False
        _log.warning("audit.working")


def _failed() -> AuditFailed:
    return AuditFailed(
        "audit_unavailable",
        "the audit log cannot be written, and nothing passes unrecorded; try again later",
    )
