"""What can go wrong with the log, by whose fault: the record's, or the log's."""


class RecordError(ValueError):
    """The record cannot be written in canonical form; the fault lies with its builder."""


class LedgerFailed(Exception):
    """The record is not durable: whoever waits for it must not go on."""


class LedgerBusy(LedgerFailed):
    """Too many records wait for the disk; this one was not taken."""


class LedgerLocked(LedgerFailed):
    """Another process writes this log."""


class LedgerDamaged(LedgerFailed):
    """What is on disk contradicts what was signed; nothing may be appended to it."""
