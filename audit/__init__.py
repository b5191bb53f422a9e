"""An append-only, tamper-evident log of decisions.

Glossary: a *record* is one JSON object in canonical bytes; an *opening* records the decision on
a request, a *closing* how it ended.  The *ledger* makes records durable in groups; the *store* is
its files; a *segment* is one of them.  A *leaf* is a record's hash, the *tree* (RFC 6962) hashes
all leaves to one *root*, and a *checkpoint* is the signed statement of size and root.  A *receipt*
is a record's place in the log.
"""

from .checkpoint import Checkpoint, NoteError, Signer, Verifier
from .clock import Clock
from .failure import LedgerBusy, LedgerDamaged, LedgerFailed, LedgerLocked, RecordError
from .inbox import Limits, Receipt
from .ledger import Ledger
from .record import (
    Attempt,
    Closing,
    Find,
    Latency,
    Opening,
    Output,
    Policy,
    Principal,
    Record,
    Request,
    Route,
    Skip,
    Use,
    new_id,
)
from .render import render_records, render_report
from .report import Finding, Report
from .show import show
from .verify import verify

__all__ = [
    "Attempt",
    "Checkpoint",
    "Clock",
    "Closing",
    "Find",
    "Finding",
    "Latency",
    "Ledger",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerFailed",
    "LedgerLocked",
    "Limits",
    "NoteError",
    "Opening",
    "Output",
    "Policy",
    "Principal",
    "Receipt",
    "Record",
    "RecordError",
    "Report",
    "Request",
    "Route",
    "Signer",
    "Skip",
    "Use",
    "Verifier",
    "new_id",
    "render_records",
    "render_report",
    "show",
    "verify",
]
