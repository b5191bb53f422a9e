"""The pages of the tree, and what can be taken out of them."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests" / "bench" / "README.md"]
)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def shell(page: Path) -> Iterator[str]:
    """Commands: indented lines that begin with `make` or `tidegate`, without their comment."""
    for line in page.read_text().splitlines():
        if re.match(r"    (?:\S*/)?(?:make|tidegate) ", line):
            yield re.sub(r"\s+#.*|\s{2,}.*", "", textwrap.dedent(line).strip())


def anchors(page: Path) -> set[str]:
    """What headings can be linked as, by GitHub's rule."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
