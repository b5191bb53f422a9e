"""The detectors of a configuration: found, their options read, made; all mistakes at once.

Those that come with Tidegate are used unless they are switched off, so that naming one more does
not lose the others.  Detectors are foreign code: whatever one raises while it is made is a mistake
at its place, for a proxy that lacks a detector must not start.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from ..detectors import Detector, registry
from ..detectors.options import READER
from ..policies import shape
from ..policies.problem import Problem, suggestion
from .config import Config, ConfigError
from .config import Detector as Settings

DETECTORS = ("pii", "secrets", "injection")
"""Those that come along, in the order they are asked; others follow in the file's order."""

LONGEST = 16 << 20
"""Bytes of a text file that options name; a list of a million words has as many."""


def load_detectors(config: Config | None = None) -> list[Detector]:
    """The detectors of a configuration, or those that come along, in the order they are asked.

    Raises:
        ConfigError: with every mistake of every detector.

    """
    settings = active(config.detectors if config is not None else {})
    known = registry.installed()
    made: list[Detector] = []
    problems: list[Problem] = []
    for name, setting in settings.items():
        one = _Making(name, setting, config)
        detector = one.detector(known)
        problems += one.problems
        made += [detector] if detector is not None else []
    if problems:
        raise ConfigError(problems)
    return made


def active(settings: Mapping[str, Settings]) -> dict[str, Settings]:
    """The settings of all detectors that are used, in the order they are asked."""
    whole = {**{name: Settings() for name in DETECTORS}, **settings}
    return {name: setting for name, setting in whole.items() if setting.enabled}


class Folder:
    """Resolves the files that options name; `Reader` of the detectors' options."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, name: str) -> str:
        """The text of a file, at most LONGEST bytes.  Raises ValueError with the reason."""
        path = self._folder / name
        try:
            with path.open("rb") as file:
                data = file.read(LONGEST + 1)
            if len(data) > LONGEST:
                raise ValueError(f"{path} has over {LONGEST >> 20} MiB")
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"byte {error.start} of {path} is not UTF-8") from None
        except OSError as error:
            raise ValueError(_unreadable(path, error)) from None

    def path(self, name: str) -> Path:
        """The path of a file that can be opened.  Raises ValueError with the reason."""
        path = self._folder / name
        try:
            with path.open("rb"):
                return path
        except OSError as error:
            raise ValueError(_unreadable(path, error)) from None


class _Making:
    """The making of one detector."""

    def __init__(self, name: str, settings: Settings, config: Config | None) -> None:
        self.problems: list[Problem] = []
        self._name = name
        self._options = settings.options
        self._config = config

    def detector(self, known: registry.Installed) -> Detector | None:
        """The detector; None after its mistakes were noted."""
        if self._name not in known:
            self._tell("there is no detector of that name", suggestion(self._name, known))
            return None
        try:
            maker = registry.maker(self._name, known)
            model = registry.options_of(maker)
            options = self._read(model)
            return registry.make(self._name, maker, options) if not self.problems else None
        except ValueError as error:
            self._tell(_first_line(error), "correct its options, or update its package")
        except Exception as error:  # noqa: BLE001 - foreign code; its import may fail in any way
            why = f"{type(error).__name__}: {_first_line(error)}"
            self._tell(why, "install what it needs, or correct its options")
        return None

    def _read(self, model: type[BaseModel] | None) -> BaseModel | None:
        if model is None:
            self.problems += self._superfluous()
            return None
        folder = Path(self._config.source.file).parent if self._config is not None else Path()
        try:
            return model.model_validate(dict(self._options), context={READER: Folder(folder)})
        except ValidationError as error:
            self.problems += self._mistakes(error, model)
            return None

    def _mistakes(self, error: ValidationError, model: type[BaseModel]) -> Iterator[Problem]:
        if self._config is not None:
            at = ("detectors", self._name, "options")
            yield from shape.problems(error, self._config.source, model, _secrets(model), at)

    def _superfluous(self) -> Iterator[Problem]:
        if self._config is not None and self._options:
            path = ("detectors", self._name, "options")
            what, why = f"{shape.dotted(path)} is set", "the detector takes no options"
            yield self._config.source.key(path).problem(what, why, "remove it")

    def _tell(self, why: str, fix: str) -> None:
        path = ("detectors", self._name)
        place = (self._config or Config.model_construct()).source.key(path)
        self.problems.append(place.problem(f"{shape.dotted(path)} cannot be used", why, fix))


def _secrets(model: type[BaseModel]) -> frozenset[str]:
    """The options whose values no message may quote."""
    fields = model.model_fields.items()
    return frozenset(name for name, field in fields if "SecretStr" in str(field.annotation))


def _unreadable(path: Path, error: OSError) -> str:
    return f"{path}: {error.strerror or type(error).__name__}"


def _first_line(error: Exception) -> str:
    """An operator's mistake in the words of the detector; there is no request yet to quote."""
    return (str(error).splitlines() or ["no reason given"])[0][:200]
