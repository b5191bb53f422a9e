"""How much text the default policy holds back in a stream: `python -m tests.docs.held`.

The prose is that of the pages in docs/, fed word by word, each with the blank before it, as
tokens of English come.  Prints characters and words that wait after a word has come.
"""

import re
import statistics
from pathlib import Path

from tidegate.detectors import Finding, Segment, Source
from tidegate.detectors.kinds import KINDS
from tidegate.policies import Action, compile_policy, library
from tidegate.proxy.assembly import build_output
from tidegate.proxy.detection import load_detectors
from tidegate.proxy.stream.holdback import HoldBack, Verdict

PAGES = Path(__file__).parents[2] / "docs"


def allow(segment: Segment, finding: Finding, base: int) -> Verdict:
    return Verdict(Action.ALLOW)


def prose() -> list[str]:
    """Paragraphs of the pages: no tables, code, headings or lists."""
    blocks = [b for page in sorted(PAGES.glob("*.md")) for b in page.read_text().split("\n\n")]
    return [" ".join(block.split()) for block in blocks if re.match(r"[A-Z]", block)]


def main() -> None:
    policy = compile_policy(library.text("default"), "pack:default", KINDS).policy
    held = build_output(policy, load_detectors()).held
    characters: list[int] = []
    words: list[int] = []
    for paragraph in prose():
        hold = HoldBack(held, allow, Source.ASSISTANT)
        for word in re.findall(r" ?\S+", paragraph):
            hold.push(word)
            characters.append(len(hold.held))
            words.append(len(hold.held.split()))
    for name, counts in (("characters", characters), ("words", words)):
        cuts = statistics.quantiles(counts, n=100, method="inclusive")
        print(  # noqa: T201 - a figure for people
            f"{name}: mean {statistics.mean(counts):.1f}, median {cuts[49]:.0f}, "
            f"95th percentile {cuts[94]:.0f}, most {max(counts)}"
        )
    print(f"{len(words)} words; bound: {held.reach} characters")  # noqa: T201 - the same


if __name__ == "__main__":
    main()
