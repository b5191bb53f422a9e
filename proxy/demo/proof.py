"""What is left of the tour: the audit log, verified, and whether each request is in it."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from ...audit import show, verify
from .prose import MADE_UP_KEY
from .report import Fact
from .tour import CARD, EMAIL

RECORDS_EACH = 2
"""The decision and the ending."""
TRIES = 100
POLL_SECONDS = 0.02
"""The ending of a request whose client left is written a moment after: nobody waits for it."""


async def proof(directory: Path, request_ids: Iterable[str]) -> list[Fact]:
    """Verify the log and find the records of each request.  The log may be in use."""
    missing = await _missing(directory, tuple(request_ids))
    facts = await asyncio.to_thread(_verified, directory)
    wanting = f"without a decision and an ending: {', '.join(missing)}" if missing else ""
    facts.append(
        Fact(wanting or "each request has its decision and its ending", holds=not missing)
    )
    leaked = await asyncio.to_thread(_holds_text, directory)
    facts.append(Fact("no text of the tour stands in the log", holds=not leaked))
    return facts


def _verified(directory: Path) -> list[Fact]:
    report = verify(directory)
    facts = [
        Fact(
            f"{log.records} records, {log.decisions} decisions, {log.completions} completions, "
            f"{log.aborts} cut off by a crash; {log.signed} records under a signed checkpoint"
        )
        for log in report.logs
    ]
    facts += [Fact(f"{f.fault}: {f.place}: {f.detail}") for f in report.findings]
    clean = not report.exit_code
    verdict = "the log verifies" if clean else f"the log does not verify ({report.exit_code})"
    return [*facts, Fact(verdict, holds=clean)]


async def _missing(directory: Path, request_ids: tuple[str, ...]) -> list[str]:
    """Find the requests without both records; they get TRIES to appear."""
    missing = await asyncio.to_thread(_without, directory, request_ids)
    for _ in range(TRIES):
        if not missing:
            break
        await asyncio.sleep(POLL_SECONDS)
        missing = await asyncio.to_thread(_without, directory, request_ids)
    return missing


def _without(directory: Path, request_ids: tuple[str, ...]) -> list[str]:
    return [
        request_id or "(no id)"
        for request_id in request_ids
        if not request_id or len(show(directory, request_id)) < RECORDS_EACH
    ]


def _holds_text(directory: Path) -> bool:
    files = (path for path in directory.rglob("*") if path.is_file())
    texts = [text.encode() for text in (EMAIL, CARD, MADE_UP_KEY)]
    return any(text in data for data in map(Path.read_bytes, files) for text in texts)
