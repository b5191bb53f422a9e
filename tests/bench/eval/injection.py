"""Prompt injection: recall and false positives of the inline detector on unseen sets.

The point of measurement is fixed by what is shipped: a finding counts from a score of 0.5, which
for the classifier is the 1 in 100 of its own calibration.  Nothing is fitted here.  `blocked` is
the share that the default policy refuses (0.8).
"""

import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.eval.disguises import DISGUISES

from tidegate.detectors import Segment, Source, Trust
from tidegate.detectors.injection import Injection

FLAG = 0.5
BLOCK = 0.8

FLOORS: Mapping[str, float] = {}
"""Least recall of a set's attacks, or of a disguise."""
CEILINGS: Mapping[str, float] = {}
"""Most false positives of a set, or of a language."""
TIMES: Mapping[int, tuple[float, float]] = {50: (0.3, 0.6), 500: (1.0, 1.5), 4000: (2.0, 3.0)}
"""By tokens: the budget in ms of CPU, median and 99th percentile."""

_TOKEN = 4.4
"""Characters of English to a token."""
_DISGUISED = 300
"""Attacks that are disguised at most, each of up to _PLAIN characters."""
_PLAIN = 400
_TRUSTS = {"user": Trust.CALLER, "data": Trust.THIRD_PARTY, "system": Trust.OPERATOR}
_ORDINARY = ("alpaca_eval", "bpo_dolly_eval", "mt_bench")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """A text of a set."""

    text: str
    attack: bool
    trust: Trust
    language: str


@dataclass(slots=True)
class Count:
    """How many there are, and how many were found."""

    texts: int = 0
    flagged: int = 0
    blocked: int = 0

    def add(self, score: float) -> None:
        """One more text."""
        self.texts += 1
        self.flagged += score >= FLAG
        self.blocked += score >= BLOCK

    @property
    def share(self) -> float:
        """The part that was found."""
        return self.flagged / self.texts if self.texts else 0.0

    def __str__(self) -> str:
        """Cells of a table."""
        if not self.texts:
            return "- | - | -"
        return f"{self.texts} | {self.share:.3f} | {self.blocked / self.texts:.3f}"


def rows(path: Path) -> Iterator[Row]:
    """The rows of a set; only a line feed ends one."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            trust = _TRUSTS.get(row.get("channel", "user"), Trust.CALLER)
            yield Row(row["text"], bool(row["label"]), trust, row.get("lang") or "?")


def highest(detector: Injection, text: str, trust: Trust) -> float:
    """The highest score of the detector's findings; 0 if there is none."""
    found = detector.find(Segment(text, (), Source.USER, trust))
    return max((finding.score for finding in found), default=0.0)


def evaluate(data: Path, say: Say) -> list[str]:
    """Say the tables; a sentence for each floor that was missed."""
    detector = Injection()
    sets = {
        path.stem: list(rows(path)) for path in sorted((data / "injection/eval").glob("*.jsonl"))
    }
    caught: list[Row] = []
    measured = _sets(detector, sets, caught, say)
    measured |= _disguises(detector, caught, say)
    _times(detector, sets, say)
    return missed(measured)


def missed(measured: Mapping[str, Count]) -> list[str]:
    """A sentence for each figure under its floor or over its ceiling."""
    low = [
        f"{name}: recall {measured[name].share:.3f}, the floor is {floor}"
        for name, floor in FLOORS.items()
        if name in measured and measured[name].share < floor
    ]
    high = [
        f"{name}: {measured[name].share:.3f} of benign texts, the ceiling is {ceiling}"
        for name, ceiling in CEILINGS.items()
        if name in measured and measured[name].share > ceiling
    ]
    absent = [f"{name}: not measured" for name in (*FLOORS, *CEILINGS) if name not in measured]
    return low + high + absent


def _sets(
    detector: Injection, sets: Mapping[str, Sequence[Row]], caught: list[Row], say: Say
) -> dict[str, Count]:
    measured: dict[str, Count] = {}
    languages: defaultdict[str, Count] = defaultdict(Count)
    say("\n| set | attacks | found | blocked | benign | flagged | blocked | ms a text |")
    say("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, texts in sets.items():
        attacks, benign = Count(), Count()
        start = time.process_time()
        for row in texts:
            score = highest(detector, row.text, row.trust)
            (attacks if row.attack else benign).add(score)
            if not row.attack:
                languages[f"benign {row.language}"].add(score)
            elif score >= FLAG and row.text.isascii() and len(row.text) <= _PLAIN:
                caught.append(row)
        spent = (time.process_time() - start) / len(texts) * 1000
        say(f"| {name} | {attacks} | {benign} | {spent:.2f} |")
        measured[name] = attacks
        measured[f"{name}, benign"] = benign
    say("\n| benign by language | texts | flagged | blocked |")
    say("|---|---:|---:|---:|")
    for name, count in sorted(languages.items()):
        say(f"| {name} | {count} |")
    return {name: count for name, count in (measured | languages).items() if count.texts}


def _disguises(detector: Injection, caught: Sequence[Row], say: Say) -> dict[str, Count]:
    """How many of the attacks that were found plain are found in each disguise."""
    step = max(1, len(caught) // _DISGUISED)
    chosen = caught[::step][:_DISGUISED]
    measured: dict[str, Count] = {}
    say("\n| disguise | attacks | found | blocked |")
    say("|---|---:|---:|---:|")
    for name, disguise in DISGUISES.items():
        chance = random.Random(name)
        count = Count()
        for row in chosen:
            count.add(highest(detector, disguise(row.text, chance), row.trust))
        say(f"| {name} | {count} |")
        measured[name] = count
    return measured


def _times(detector: Injection, sets: Mapping[str, Sequence[Row]], say: Say) -> None:
    """CPU time of ordinary English by length.  Told, not judged: other programs move it."""
    prose = " ".join(
        row.text for name in _ORDINARY for row in sets.get(name, ()) if not row.attack
    )
    say("\n| tokens | ms, median | ms, 99th percentile | budget |")
    say("|---|---:|---:|---:|")
    for tokens, budget in TIMES.items():
        size = int(tokens * _TOKEN)
        pieces = [prose[at : at + size] for at in range(0, len(prose) - size, max(size, 1500))][
            :200
        ]
        spent = sorted(_quickest(detector, piece) for piece in pieces)
        if spent:
            middle, late = spent[len(spent) // 2], spent[int(len(spent) * 0.99)]
            say(f"| {tokens} | {middle:.2f} | {late:.2f} | {budget[0]} / {budget[1]} |")


def _quickest(detector: Injection, text: str) -> float:
    """Milliseconds of CPU for one text, the least of five."""
    segment = Segment(text, (), Source.USER, Trust.CALLER)
    spent = []
    for _ in range(5):
        start = time.process_time()
        detector.find(segment)
        spent.append(time.process_time() - start)
    return min(spent) * 1000
