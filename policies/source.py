"""YAML as a plain tree, with the place of every key and value.

Reads a safe part of YAML: maps with text keys, lists, and scalars by the core schema of YAML 1.2
(https://yaml.org/spec/1.2.2/#103-core-schema), so `no` and `on` are texts, not booleans.
Refused: keys that stand twice, anchors and aliases (a few lines can unfold to gigabytes), tags,
a second document, more than DEEPEST levels.  It works on the parser's events, not on PyYAML's
composer, which recurses and so can be made to overflow the stack.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import yaml

from .problem import Mistakes, Place, Problem, quoted

Path = tuple[str | int, ...]

LONGEST = 1024 * 1024
"""Characters in one file; a thousand rules are a tenth of it."""
DEEPEST = 32
"""Levels of nesting; a configuration needs five."""

_WORDS: Mapping[str, bool | None] = MappingProxyType(
    dict.fromkeys(("", "~", "null", "Null", "NULL"))
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
)
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Source:
    """A tree of dict, list, str, int, float, bool and None, and where each part was written."""

    file: str
    tree: Any
    keys: Mapping[Path, Place]
    values: Mapping[Path, Place]

    def key(self, path: Path) -> Place:
        """The place of the key, or of the nearest thing around it."""
        return self.keys.get(path) or self.value(path)

    def value(self, path: Path) -> Place:
        """The place of the value, or of the nearest thing around it."""
        for length in range(len(path), -1, -1):
            place = self.values.get(path[:length])
            if place is not None:
                return place
        return Place(self.file)


def load(text: str, file: str) -> Source:
    """Read `text`; `file` is only named in places.

    Raises Mistakes with everything found; after a mistake in the YAML syntax itself nothing
    more can be found, so that one is then the last.
    """
    if len(text) > LONGEST:
        why = f"it has {len(text)} characters and {LONGEST} are read"
        raise Mistakes([Place(file, 1, 1).problem("the file is too long", why, "split it")])
    reader = _Reader(file)
    try:
        for event in yaml.parse(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader):
            reader.take(event)
            if reader.stopped:
                break
    except yaml.reader.ReaderError as error:
        reader.problems.append(_unreadable(error, text, file))
    except yaml.MarkedYAMLError as error:
        reader.problems.append(_malformed(error, file))
    if reader.problems:
        raise Mistakes(reader.problems)
    return Source(
        file, reader.tree, MappingProxyType(reader.keys), MappingProxyType(reader.values)
    )


def _unreadable(error: yaml.reader.ReaderError, text: str, file: str) -> Problem:
    before = text[: error.position]
    place = Place(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
    return place.problem(
        f"the character U+{ord(text[error.position]):04X} stands here",
        "YAML does not allow it",
        'remove it, or write it as an escape in "double quotes"',
    )


def _malformed(error: yaml.MarkedYAMLError, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
    return place.problem(
        "this is not valid YAML",
        error.problem or error.context or "the text ends too early",
        "check indentation, quotes and brackets here and on the line above",
    )


@dataclass(slots=True)
class _Open:
    """A map or list whose end has not come yet."""

    path: Path
    node: dict[str, Any] | list[Any]
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    """Builds the tree from events."""

    file: str
    tree: Any = None
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    stopped: bool = False
    _open: list[_Open] = field(default_factory=list)
    _documents: int = 0

    def take(self, event: yaml.Event) -> None:
        """Read one event."""
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._stop(event, "a second document begins here", "one is read", "remove it")
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._open.pop()
            case yaml.NodeEvent():
                self._node(event)
            case _:  # the ends of documents and of the stream say nothing
                pass

    def _node(self, event: yaml.NodeEvent) -> None:
        self.problems.extend(self._forbidden(event))
        if self._wants_key():
            self._take_key(event)
            return
        path = self._next_path()
        self.values[path] = self._place(event)
        if isinstance(event, yaml.CollectionStartEvent):
            self._begin(event, path)
        else:
            self._put(_scalar(event) if isinstance(event, yaml.ScalarEvent) else None)

    def _forbidden(self, event: yaml.NodeEvent) -> Iterator[Problem]:
        place = self._place(event)
        tag = getattr(event, "tag", None)
        if tag is not None:
            what = f"the tag {quoted(tag)} stands here"
            yield place.problem(what, "tags are not read", "remove it, and quote a text")
        if isinstance(event, yaml.AliasEvent):
            what = f"the alias *{event.anchor} stands here"
            yield place.problem(what, "aliases are not read", "write the value out")
        elif event.anchor is not None:
            what = f"the anchor &{event.anchor} stands here"
            yield place.problem(what, "anchors are not read", "remove it")

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].node, dict) and not self._has_key()

    def _has_key(self) -> bool:
        return self._open[-1].key is not None

    def _take_key(self, event: yaml.NodeEvent) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            self._stop(event, "a key is not a text", "keys are names", "write a name as the key")
            return
        top, place = self._open[-1], self._place(event)
        path = (*top.path, event.value)
        first = self.keys.get(path)
        if first is not None:
            what = f"the key {quoted(event.value)} stands here a second time"
            self.problems.append(
                place.problem(what, f"it is already on line {first.line}", "keep one of them")
            )
        self.keys[path] = place
        top.key = event.value

    def _next_path(self) -> Path:
        if not self._open:
            return ()
        top = self._open[-1]
        return (*top.path, len(top.node) if top.key is None else top.key)

    def _begin(self, event: yaml.CollectionStartEvent, path: Path) -> None:
        if len(self._open) >= DEEPEST:
            self._stop(event, "this is nested too deeply", f"{DEEPEST} levels are read", "flatten")
            return
        node: dict[str, Any] | list[Any]
        node = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._put(node)
        self._open.append(_Open(path, node))

    def _put(self, value: Any) -> None:
        if not self._open:
            self.tree = value
            return
        top = self._open[-1]
        if isinstance(top.node, list):
            top.node.append(value)
        else:
            top.node[str(top.key)] = value
            top.key = None

    def _stop(self, event: yaml.Event, what: str, why: str, fix: str) -> None:
        self.problems.append(self._place(event).problem(what, why, fix))
        self.stopped = True

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        return Place(self.file, mark.line + 1, mark.column + 1) if mark else Place(self.file)


def _scalar(event: yaml.ScalarEvent) -> str | int | float | bool | None:
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
