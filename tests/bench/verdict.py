"""From figures to ratios, tables and a verdict.  Pure: no process, no clock."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BASE = "plain"
SUBJECT = "tidegate"

BUDGETS: Mapping[str, float] = {"json": 1.7, "burst": 1.6, "paced": 1.35, "memory": 1.0}
"""The most that Tidegate may cost, as a ratio to the bare aiohttp proxy in the same run."""

# scenario -> server -> one figure a round
Rounds = Mapping[str, Mapping[str, Sequence[float | None]]]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median over rounds of the per-round ratio, which a noisy machine moves least."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        """The ratio with its range."""
        return f"{self.median:.2f} ({self.least:.2f}-{self.most:.2f})"


def ratio(subject: Sequence[float | None], base: Sequence[float | None]) -> Ratio | None:
    """The ratio of two servers that took turns; None if no round has both figures."""
    each = [a / b for a, b in zip(subject, base, strict=True) if a is not None and b]
    return Ratio(statistics.median(each), min(each), max(each)) if each else None


def median(values: Sequence[float | None]) -> float | None:
    """The median of the values there are."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def ratios(rounds: Rounds) -> dict[str, dict[str, Ratio]]:
    """Scenario → server → its ratio to the bare proxy."""
    table: dict[str, dict[str, Ratio]] = {}
    for scenario, servers in rounds.items():
        base = servers.get(BASE)
        for server, values in servers.items():
            found = ratio(values, base) if base else None
            if found:
                table.setdefault(scenario, {})[server] = found
    return table


def missed(rounds: Rounds, budgets: Mapping[str, float] = BUDGETS) -> list[str]:
    """A sentence for each budget of a scenario that ran and was not kept, or not judged."""
    found = ratios(rounds)
    faults = []
    for scenario, budget in budgets.items():
        if scenario not in rounds:
            continue
        got = found.get(scenario, {}).get(SUBJECT)
        if got is None:
            faults.append(f"{scenario}: not judged, a figure is missing")
        elif got.median > budget:
            faults.append(f"{scenario}: {got} is over the budget of {budget}")
    return faults


def table(rounds: Rounds, units: Mapping[str, str]) -> str:
    """A Markdown table: per scenario and server the median figure and its ratio."""
    found = ratios(rounds)
    lines = ["| scenario | unit | server | median | ratio to plain |", "|---|---|---|---:|---:|"]
    for scenario, servers in rounds.items():
        for server, values in servers.items():
            middle = median(values)
            shown = "-" if middle is None else f"{middle:.1f}"
            ratio_shown = str(found.get(scenario, {}).get(server, "-"))
            unit = units[scenario]
            lines.append(f"| {scenario} | {unit} | {server} | {shown} | {ratio_shown} |")
    return "\n".join(lines)
