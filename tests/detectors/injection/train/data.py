"""A small data folder, and texts of our own beside it."""

import json
from pathlib import Path


def write_rows(path: Path, *rows: tuple[str, int, str]) -> None:
    """A set of texts with their labels and channels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"text": text, "label": label, "channel": channel, "lang": "en", "kind": "k"})
        for text, label, channel in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_own(folder: Path, name: str, text: str) -> None:
    """One file of our own, such as "en/attack_caller.txt"."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
