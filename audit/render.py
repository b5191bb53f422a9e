"""Reports and records as text for people."""

from datetime import UTC, datetime
from typing import Any

from .report import Report

_VERDICTS = {
    0: "clean",
    1: "TAMPERED WITH: keep a copy, and compare it with checkpoints kept elsewhere",
    2: "incomplete: nothing was changed, but something is missing",
    3: "cannot be read",
}


def render_report(report: Report) -> str:
    """A report in lines: the figures of each log, the findings, the verdict."""
    lines: list[str] = []
    for log in report.logs:
        requests = f"{log.decisions} decisions, {log.completions} completions"
        lines += [
            f"log          {log.origin or '?'} in {log.path}",
            f"records      {log.records}, {log.signed} signed in {log.checkpoints} checkpoints",
            f"requests     {requests}, {log.aborts} aborted, {log.in_flight} in flight",
        ]
        if log.root:
            lines.append(f"root         {log.root}")
    lines += [f"{f.fault:<13}{f.place}: {f.detail}" for f in report.findings]
    if report.more:
        lines.append(f"and {report.more} findings more")
    lines.append(f"verdict      {_VERDICTS[report.exit_code]}")
    return printable("\n".join(lines)) + "\n"


def render_records(records: list[dict[str, Any]]) -> str:
    """Records in lines, one paragraph each, every field in its own line."""
    if not records:
        return "no record of this request\n"
    return "\n".join(_record(record) for record in records)


def _record(record: dict[str, Any]) -> str:
    lines = [f"{record.get('k', '?')}  #{record.get('n', '?')}  {_time(record.get('t'))}"]
    lines += [f"  {name:<14}{_value(record[name])}" for name in sorted(record) if name != "k"]
    return printable("\n".join(lines)) + "\n"


def _value(value: Any) -> str:
    match value:
        case dict():
            return "  ".join(f"{name}={_value(item)}" for name, item in sorted(value.items()))
        case list() if any(isinstance(item, dict) for item in value):
            return "".join(f"\n    - {_value(item)}" for item in value)
        case list():
            return "[" + ", ".join(_value(item) for item in value) + "]"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value).replace("\n", "\\n")


def _time(value: Any) -> str:
    try:
        return datetime.fromtimestamp(value / 1_000_000, UTC).isoformat(timespec="microseconds")
    except (TypeError, ValueError, OverflowError, OSError):
        return "at an unknown time"


def printable(text: str) -> str:
    """Text without control characters: a user agent must not steer the auditor's terminal."""
    return "".join(c if c == "\n" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)
