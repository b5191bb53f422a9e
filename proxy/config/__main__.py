"""`python -m tidegate.proxy.config docs/configuration.md` makes the page's reference anew."""

import sys
from pathlib import Path

from .reference import spliced


def main(arguments: list[str]) -> int:
    """Rewrite each page named."""
    for name in arguments:
        page = Path(name)
        page.write_text(spliced(page.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
