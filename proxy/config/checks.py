"""What only the whole configuration can tell: references to nothing, clashes, things unused.

Each check is given the configuration and the places, and yields problems; none does I/O.
"""

from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

from ...policies import library
from ...policies.problem import Place, Problem, quoted, suggestion
from ...policies.shape import dotted
from ...policies.source import Path, Source
from .document import DEFAULT_POLICY, Config, Route
from .names import overlap
from .values import is_loopback, split

Check = Callable[[Config, Source], Iterator[Problem]]

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared with, never listened on


def references(config: Config, source: Source) -> Iterator[Problem]:
    """Names of engines, pools and policies that are defined nowhere.

    Read from the tree, not the configuration: a pool with a mistake still names its engines.
    """
    engines = _defined(config.engines, source, "engines")
    for name, pool in _maps(source, "pools"):
        for index, engine in enumerate(_texts(split(pool.get("engines")))):
            at: Path = ("pools", name, "engines", index)
            yield from _unknown(engine, engines, "engine", source, at)
    for key, section, default in (("pool", "pools", ()), ("policy", "policies", config.policies)):
        names = _defined(default, source, section)
        for name, route in _maps(source, "routes"):
            for value in _texts([route.get(key, DEFAULT_POLICY if key == "policy" else None)]):
                yield from _unknown(value, names, key, source, ("routes", name, key))


def _maps(source: Source, section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The items of a section, as far as they are maps."""
    written = source.tree.get(section)
    for name, item in written.items() if isinstance(written, dict) else ():
        if isinstance(item, dict):
            yield name, item


def _texts(value: Any) -> list[str]:
    """The texts in a list; nothing if it is none."""
    return [text for text in value if isinstance(text, str)] if _is_list(value) else []


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _defined(read: Collection[str], source: Source, section: str) -> set[str]:
    """All names in the section, those of items that could not be read too."""
    written = source.tree.get(section)
    return {*read, *(written if isinstance(written, dict) else ())}


def _unknown(
    name: str, known: Collection[str], sort: str, source: Source, path: Path
) -> Iterator[Problem]:
    if name not in known:
        what = f"{dotted(path)} is {quoted(name)}"
        why = f"there is no {sort} of that name"
        yield source.value(path).problem(what, why, suggestion(name, known))


def grants(config: Config, source: Source) -> Iterator[Problem]:
    """Routes that callers may use and that do not exist."""
    granted: list[tuple[Path, tuple[str, ...]]] = [
        (("access", "keys", name, "routes"), key.routes)
        for name, key in config.access.keys.items()
    ]
    granted.append((("access", "anonymous", "routes"), config.access.anonymous.routes))
    routes = _defined(config.routes, source, "routes")
    for path, globs in granted:
        for index, glob in enumerate(globs):
            if glob != "*" and not any(fnmatchcase(route, glob) for route in routes):
                what = f"{dotted((*path, index))} is {quoted(glob)}"
                fix = suggestion(glob, routes)
                yield source.value((*path, index)).problem(what, "it names no route", fix)


def models(config: Config, source: Source) -> Iterator[Problem]:
    """Model names of which it could not be said which route they mean."""
    listed = [
        (name, route, index, glob)
        for name, route in config.routes.items()
        for index, glob in enumerate(route.models)
    ]
    for (first, one, _, a), (second, other, index, b) in combinations(listed, 2):
        clash = a == b if first == second else overlap(a, b)
        if not clash or not _same_paths(one, other):
            continue
        path = ("routes", second, "models", index)
        what = f"{dotted(path)} is {quoted(b)}"
        if first == second:
            why = f"the same route has {quoted(a)} already"
        else:
            why = f"the route {quoted(first)} serves {quoted(a)}, and a model can fit both"
        yield source.value(path).problem(what, why, "remove one, or make one narrower")


def _same_paths(one: Route, other: Route) -> bool:
    return one.paths is None or other.paths is None or not set(one.paths).isdisjoint(other.paths)


def ports(config: Config, source: Source) -> Iterator[Problem]:
    """Two listeners that would want the same port of the same address."""
    wanted: list[tuple[Path, str, int]] = [
        (("listeners", name, "port"), listener.host, listener.port)
        for name, listener in config.listeners.items()
    ]
    wanted.append((("admin", "port"), config.admin.host, config.admin.port))
    for (first, host, port), (second, other_host, other_port) in combinations(wanted, 2):
        if port and port == other_port and _same_host(host, other_host):
            what = f"{dotted(second)} is {port}"
            yield _spoken(source, second, first).problem(
                what, f"{dotted(first)} is the same port of the same address", "choose another"
            )


def _same_host(a: str, b: str) -> bool:
    return a == b or a in _EVERYWHERE or b in _EVERYWHERE or {a, b} == {"localhost", "127.0.0.1"}


def _spoken(source: Source, path: Path, other: Path) -> Place:
    """The place of the one that is written somewhere; a default stands nowhere."""
    return source.value(path if path in source.values else other)


def credentials(config: Config, source: Source) -> Iterator[Problem]:
    """Engines with more than one credential, and pools that name an engine twice."""
    for name, engine in config.engines.items():
        given = [
            key
            for key in ("api_key", "api_key_env", "api_key_file")
            if getattr(engine, key) is not None
        ]
        if len(given) > 1:
            what = f"engines.{name} has {' and '.join(given)}"
            place = source.key(("engines", name, given[-1]))
            yield place.problem(what, "an engine has one credential", "keep one")
    for name, pool in config.pools.items():
        for index, engine_name in enumerate(pool.engines):
            if engine_name in pool.engines[:index]:
                path = ("pools", name, "engines", index)
                what = f"{dotted(path)} is {quoted(engine_name)} once more"
                yield source.value(path).problem(what, "it is in the pool already", "remove it")


def packs(config: Config, source: Source) -> Iterator[Problem]:
    """Policies that are neither one pack nor one file, and packs that do not exist."""
    for name, policy in config.policies.items():
        path = ("policies", name)
        if (policy.pack is None) == (policy.file is None):
            has = "both pack and" if policy.pack else "neither pack nor"
            what = f"policies.{name} has {has} file"
            fix = "write `pack: default`, or `file:` with the path of a policy file"
            yield source.key(path).problem(what, "a policy is one of them", fix)
        elif policy.pack is not None:
            yield from _unknown(policy.pack, library.names(), "pack", source, (*path, "pack"))


def access(config: Config, source: Source) -> Iterator[Problem]:
    """Callers without a key where they must not be, nobody at all, two keys with one id."""
    anonymous, keys = config.access.anonymous.enabled, config.access.keys
    if not anonymous and not keys:
        fix = "add one with `tidegate key new`, or set access.anonymous to true"
        why = "there is no key and callers without one are not served"
        yield source.key(("access",)).problem("nobody may call", why, fix)
    if anonymous and not config.access.anonymous_anywhere:
        for name, listener in config.listeners.items():
            if not is_loopback(listener.host):
                yield source.value(("listeners", name, "host")).problem(
                    f"listeners.{name}.host is {quoted(listener.host)}",
                    "callers without a key are served and others than this machine reach it",
                    "listen on 127.0.0.1, set access.anonymous to false, or say"
                    " access.anonymous_anywhere: true",
                )
    seen: dict[str, str] = {}
    for name, key in keys.items():
        key_id = key.hash.split("$")[1]
        if key_id in seen:
            what = f"access.keys.{name}.hash has the id of the key of {quoted(seen[key_id])}"
            fix = "make a new key for one of them with `tidegate key new`"
            place = source.value(("access", "keys", name, "hash"))
            yield place.problem(what, "a key belongs to one caller", fix)
        seen.setdefault(key_id, name)


SINGLE: tuple[Check, ...] = (references, grants, models, ports, credentials, packs)
"""The checks that are right of a part of the configuration as well; `access` is not."""


def warnings(config: Config, source: Source) -> Iterator[Problem]:
    """What is written and has no effect, or is open to more than one would think."""
    used_engines = {engine for pool in config.pools.values() for engine in pool.engines}
    used_pools = {route.pool for route in config.routes.values()}
    used_policies = {route.policy for route in config.routes.values()}
    for sort, names, used, where in (
        ("engines", config.engines, used_engines, "pool"),
        ("pools", config.pools, used_pools, "route"),
        ("policies", config.policies, used_policies, "route"),
    ):
        for name in sorted(set(names) - used):
            place = source.key((sort, name))
            why, fix = f"no {where} names it", "remove it, or use it"
            yield place.problem(f"{sort}.{name} is not used", why, fix)
    anonymous = source.tree.get("access", {}).get("anonymous")
    if isinstance(anonymous, dict) and not {"enabled"} & set(anonymous):
        why, fix = "callers without a key are not served", "add enabled: true, or remove it"
        place = source.key(("access", "anonymous"))
        yield place.problem("access.anonymous has no effect", why, fix)
    if not is_loopback(config.admin.host):
        what = f"admin.host is {quoted(config.admin.host)}"
        why = "metrics and engine states are shown to whoever reaches it, without a key"
        yield source.value(("admin", "host")).problem(what, why, "keep it behind a firewall")
