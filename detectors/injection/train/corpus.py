"""The texts to train on: read from a data folder and from our own files, cleaned, without doubles.

Order and content depend on the files alone, so a training is reproducible.  Texts of the folder's
`eval/` part serve for one thing: what resembles one of them is left out.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import noise
from .shingles import Seen, clusters, plain

OWN = Path(__file__).parent / "texts"
"""Our own texts: `<language>/{attack,benign}_{caller,third_party}*.txt`."""

CALLER = "caller"
THIRD_PARTY = "third_party"

_CHANNELS = {"user": CALLER, "data": THIRD_PARTY}
_OWN_PREFIX = "own_"
_ALIKE = 0.4
"""A text that shares more than this part of its shingles with evaluation texts is left out."""

_MOST_ALIKE = 3
"""Texts kept of a cluster of near doubles, for each source."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text to train on; `channel` is who says it, `group` its cluster of near doubles."""

    text: str
    attack: bool
    channel: str
    language: str
    source: str
    family: str = ""
    group: int = 0

    @property
    def own(self) -> bool:
        """Whether it was written for this project."""
        return self.source.startswith(_OWN_PREFIX)


@dataclass(slots=True)
class Source:
    """What became of one set, for the card."""

    name: str
    rows: int = 0
    used: int = 0
    attacks: int = 0
    """Of those that are used."""
    digest: str = ""
    """SHA-256 of its file or, for our own texts of a language, of all its files in order."""
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts in a fixed order, and an account of each set."""

    texts: list[Text]
    sources: list[Source]


def load(data: Path, own: Path = OWN) -> Corpus:
    """All there is to train on: the `train/` part of a data folder, and our own texts.

    Raises:
        FileNotFoundError: the folder has no `train/` part or no `eval/` part to leave out.
        ValueError: a line of a file cannot be read; it says which.

    """
    sources: dict[str, Source] = {}
    texts = [*_folder(data / "train", sources), *_own(own, sources)]
    texts = _cleaned(texts, sources)
    texts = _unseen(texts, evaluation(data), sources)
    texts = _thinned(texts, sources)
    for text in texts:
        sources[text.source].used += 1
        sources[text.source].attacks += text.attack
    return Corpus(texts, list(sources.values()))


def evaluation(data: Path) -> Iterator[str]:
    """The texts nothing may resemble."""
    for path in _files(data / "eval"):
        for row in _rows(path):
            yield row["text"]


def own_entries(path: Path) -> Iterator[tuple[str, str]]:
    """Family and text of each entry of one of our files.

    A line `## family` names what follows; a line `%%` ends an entry.
    """
    family = ""
    lines: list[str] = []
    for line in [*path.read_text(encoding="utf-8").split("\n"), "%%"]:
        heading = line.startswith("## ")
        if not heading and line.rstrip() != "%%":
            lines.append(line)
            continue
        if entry := "\n".join(lines).strip():
            yield family, entry
        lines = []
        if heading:
            family = line[3:].strip()


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no *.jsonl")
    return files


def _rows(path: Path) -> Iterator[dict[str, str]]:
    # Only \n ends a row: texts hold other separators that str.splitlines would cut at.
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            row["text"], row["label"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}:{number} is no row with text and label") from error
        yield row


def _folder(folder: Path, sources: dict[str, Source]) -> Iterator[Text]:
    for path in _files(folder):
        name = path.stem
        source = sources[name] = Source(name, digest=hashlib.sha256(path.read_bytes()).hexdigest())
        for row in _rows(path):
            source.rows += 1
            yield Text(
                row["text"],
                bool(row["label"]),
                _CHANNELS.get(row.get("channel", ""), CALLER),
                row.get("lang", ""),
                name,
                row.get("kind", ""),
            )


def _own(folder: Path, sources: dict[str, Source]) -> Iterator[Text]:
    for language in sorted(path for path in folder.glob("*") if path.is_dir()):
        name = f"{_OWN_PREFIX}{language.name}"
        source = sources[name] = Source(name)
        digest = hashlib.sha256()
        for path in sorted(language.glob("*.txt")):
            label, _, rest = path.stem.partition("_")
            if label not in ("attack", "benign"):
                raise ValueError(f"{path}: a name begins with attack_ or benign_")
            digest.update(path.read_bytes())
            channel = THIRD_PARTY if rest.startswith(THIRD_PARTY) else CALLER
            for family, text in own_entries(path):
                source.rows += 1
                yield Text(text, label == "attack", channel, language.name, name, family)
        source.digest = digest.hexdigest()


def _cleaned(texts: Iterable[Text], sources: dict[str, Source]) -> list[Text]:
    """Without rows whose label is plainly wrong, and without the marks of how sets were made."""
    kept = []
    for number, text in enumerate(texts):
        if not text.own and (why := noise.wrong(text.text, text.source, attack=text.attack)):
            sources[text.source].dropped[why] += 1
        else:
            new = text.text if text.own else noise.repaired(text.text, number)
            kept.append(replace(text, text=new))
    return kept


def _unseen(texts: Iterable[Text], seen: Iterable[str], sources: dict[str, Source]) -> list[Text]:
    """Those that resemble no evaluation text, each once for each channel and label."""
    known = Seen(seen)
    once: set[tuple[str, str, bool]] = set()
    kept = []
    for text in texts:
        key = (plain(text.text), text.channel, text.attack)
        if not key[0] or key in once:
            sources[text.source].dropped["double"] += 1
        elif known.share(text.text) > _ALIKE:
            sources[text.source].dropped["like an evaluation text"] += 1
        else:
            kept.append(text)
        once.add(key)
    return kept


def _thinned(texts: Sequence[Text], sources: dict[str, Source]) -> list[Text]:
    """At most _MOST_ALIKE of each cluster and source; the rest know their cluster."""
    count: Counter[tuple[int, str, bool]] = Counter()
    kept = []
    for text, group in zip(texts, clusters([text.text for text in texts]), strict=True):
        key = (group, text.source, text.attack)
        count[key] += 1
        if count[key] > _MOST_ALIKE:
            sources[text.source].dropped["near double"] += 1
        else:
            kept.append(replace(text, group=group))
    return kept
