"""Environment variables laid over the tree of a configuration file.

TIDEGATE_ENGINES__A__URL sets `engines.a.url`: levels are parted by two underscores, letters are
taken as lower case, and a name in the file with '-' is found by '_' as well.  A variable beats
the file; an empty one counts as not set (compose files leave such behind).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...policies.problem import Place, Problem
from ...policies.source import Path, Source

PREFIX = "TIDEGATE_"
SELECTS_FILE = "TIDEGATE_CONFIG"
"""Names the configuration file; read by the command line, so it sets nothing here."""

# What Kubernetes and old Docker links set by themselves for a service that is called "tidegate":
# https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
_SERVICE_LINK = re.compile(r"TIDEGATE_(?:SERVICE_(?:HOST|PORT.*)|PORT(?:_.*)?|NAME|ENV_.*)")


def overlay(source: Source, environ: Mapping[str, str]) -> tuple[Source, list[Problem]]:
    """The source with all TIDEGATE_ variables laid over it, and what is wrong with their names.

    Variables that `api_key_env` of an engine names are left alone: they hold credentials.
    """
    tree, values = _copied(source.tree), dict(source.values)
    problems: list[Problem] = []
    for name in _settings(environ, tree):
        path = _path(name, tree)
        if path is None or not _put(tree, path, environ[name]):
            problems.append(_misplaced(name))
        else:
            values[path] = Place(name)
    keys = {path: place for path, place in source.keys.items() if values.get(path) is not None}
    keys.update({path: place for path, place in values.items() if not place.line and path})
    return Source(source.file, tree, keys, values), problems


def _settings(environ: Mapping[str, str], tree: dict[str, Any]) -> Iterator[str]:
    credentials = {SELECTS_FILE, *_credentials(tree)}
    credentials |= {
        value
        for name, value in environ.items()
        if name.startswith("TIDEGATE_ENGINES__") and name.endswith("__API_KEY_ENV")
    }
    for name in sorted(environ):
        if not name.startswith(PREFIX) or not environ[name]:
            continue
        if name not in credentials and not _SERVICE_LINK.fullmatch(name):
            yield name


def _credentials(tree: dict[str, Any]) -> Iterator[str]:
    engines = tree.get("engines")
    for engine in engines.values() if isinstance(engines, dict) else ():
        named = engine.get("api_key_env") if isinstance(engine, dict) else None
        if isinstance(named, str):
            yield named


def _path(name: str, tree: dict[str, Any]) -> Path | None:
    """The path in the tree that the variable means; None if two names there look the same."""
    node: Any = tree
    path: list[str] = []
    for part in name.removeprefix(PREFIX).lower().split("__"):
        known = node if isinstance(node, dict) else {}
        alike = [key for key in known if key.lower().replace("-", "_") == part]
        if len(alike) > 1 or not part:
            return None
        path.append(alike[0] if alike else part)
        node = known.get(path[-1])
    return tuple(path)


def _put(tree: dict[str, Any], path: Path, value: str) -> bool:
    """Set the value; False if the way there leads through something that is not a map."""
    node = tree
    for part in path[:-1]:
        inner = node.get(str(part))
        if inner is None:
            inner = node[str(part)] = {}
        if not isinstance(inner, dict):
            return False
        node = inner
    if isinstance(node.get(str(path[-1])), dict):
        return False
    node[str(path[-1])] = value
    return True


def _misplaced(name: str) -> Problem:
    return Place(name).problem(
        "the variable fits no single value",
        "its name leads to a map, through a plain value, or to two names that look alike",
        "see docs/configuration.md for the names of variables",
    )


def _copied(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _copied(value) for key, value in node.items()}
    return node
