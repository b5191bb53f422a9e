"""Loads the configuration: file, then variables over it, then checks; all mistakes at once.

The only file of this package that reads files: the configuration, the engines' credentials,
and whether policy files are there.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from pydantic import SecretStr, ValidationError

from ...policies import shape
from ...policies.problem import Mistakes, Place, Problem, quoted
from ...policies.source import LONGEST, Source
from ...policies.source import Path as TreePath
from ...policies.source import load as load_yaml
from . import checks
from .document import Config, Engine, PolicyFile
from .environ import overlay
from .salvage import readable
from .values import fits_header

SECRET = frozenset({"api_key", "headers", "hash"})
"""Keys whose values no message may quote."""


class ConfigError(Mistakes):
    """The configuration cannot be used; `problems` says all that is wrong with it."""


def load(path: Path, environ: Mapping[str, str]) -> Config:
    """Load `path` with the variables of `environ` over it.

    Paths in the result are absolute or relative to the working directory, credentials are in
    `Engine.api_key` whatever they came from, and `Config.warnings` holds what is odd but no
    mistake.  Raises ConfigError.
    """
    try:
        written = load_yaml(read(path), str(path))
    except Mistakes as mistakes:
        raise ConfigError(mistakes.problems) from None
    if not isinstance(written.tree, dict):
        if written.tree is not None:
            raise ConfigError([_no_map(written)])
        written = Source(written.file, {}, written.keys, written.values)
    source, found = overlay(written, environ)
    try:
        config = Config.model_validate(source.tree)
    except ValidationError as error:
        found.extend(shape.problems(error, source, Config, SECRET))
        partial = readable(source.tree)
        for check in checks.SINGLE:
            found.extend(check(partial, source))
        raise ConfigError(found) from None  # pydantic's own error quotes what may be secret
    for check in (*checks.SINGLE, checks.access):
        found.extend(check(config, source))
    return _settled(config, source, found, environ)


def read(path: Path) -> str:
    """The text of a file the operator names.  Raises ConfigError if it cannot be read."""
    place = Place(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(4 * LONGEST + 1)
        return data.decode("utf-8")
    except OSError as error:
        why = error.strerror or type(error).__name__
        problem = place.problem("the file cannot be read", why, "check its path and permissions")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8"
        problem = place.problem(what, "the file must be UTF-8", "save it as UTF-8")
    raise ConfigError([problem])


def _no_map(source: Source) -> Problem:
    fix = "write `engines:` and so on at the left margin"
    return source.value(()).problem("the file holds no keys", "it must be a map", fix)


def _settled(
    config: Config, source: Source, found: list[Problem], environ: Mapping[str, str]
) -> Config:
    """Paths joined to the file's folder and credentials fetched; raises what was found."""
    folder = Path(source.file).parent
    engines = dict(_engines(config, source, found, environ))
    policies = dict(_policies(config, source, found))
    if found:
        raise ConfigError(found)
    audit = config.audit.model_copy(update={"dir": folder / config.audit.dir})
    update = {
        "engines": MappingProxyType(engines),
        "policies": MappingProxyType(policies),
        "audit": audit,
    }
    copy = config.model_copy(update=update)
    return copy.read_from(source, tuple(checks.warnings(config, source)))


def _policies(
    config: Config, source: Source, found: list[Problem]
) -> Iterator[tuple[str, PolicyFile]]:
    for name, policy in config.policies.items():
        if policy.file is None:
            yield name, policy
            continue
        file = Path(source.file).parent / policy.file
        if not file.is_file():
            place = source.value(("policies", name, "file"))
            what = f"policies.{name}.file is {quoted(str(policy.file))}"
            found.append(place.problem(what, f"there is no file {file}", "correct the path"))
        yield name, policy.model_copy(update={"file": file})


def _engines(
    config: Config, source: Source, found: list[Problem], environ: Mapping[str, str]
) -> Iterator[tuple[str, Engine]]:
    for name, engine in config.engines.items():
        key, why = engine.api_key, ""
        at: TreePath = ("engines", name)
        if engine.api_key_env is not None:
            at = (*at, "api_key_env")
            key, why = _from_variable(engine.api_key_env, environ)
        elif engine.api_key_file is not None:
            at = (*at, "api_key_file")
            key, why = _from_file(Path(source.file).parent / engine.api_key_file)
        if why:
            fix = "put the bare credential there, in one line"
            what = f"{shape.dotted(at)} leads to no credential"
            found.append(source.value(at).problem(what, why, fix))
        yield name, engine.model_copy(update={"api_key": key})


def _from_variable(name: str, environ: Mapping[str, str]) -> tuple[SecretStr | None, str]:
    """The credential in the variable, or why there is none."""
    if not environ.get(name):
        return None, f"the variable {quoted(name)} is not set"
    return _credential(environ[name], f"the variable {quoted(name)}")


def _from_file(path: Path) -> tuple[SecretStr | None, str]:
    """The credential in the file, or why there is none."""
    try:
        text = read(path)
    except ConfigError as error:
        return None, f"{path}: {error.problems[0].why}"
    return _credential(text, str(path))


def _credential(text: str, origin: str) -> tuple[SecretStr | None, str]:
    key = text.strip()
    if not fits_header(key):
        return None, f"{origin} does not hold one line of printable ASCII"
    return SecretStr(key), ""
