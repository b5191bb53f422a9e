"""Routes: from a model name to the pool that serves it and the policy that judges it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..detectors.scanner import Scanner
from ..policies import Direction, Facts, Policy
from .config.names import STAR, ModelNames
from .duty import Terms
from .engines import Pool
from .errors import BadRequest

MOST_FOUND = 4096
"""Names whose route is kept: callers make them up, so there must be an end."""
LONGEST_FOUND = 128
"""Characters of such a name."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a policy looks for in answers: kinds to hold a stream for, and kinds to follow only."""

    held: Scanner
    followed: Scanner
    first: Scanner
    """All of their patterns, and maybe more: asked first, since nearly every answer is clean."""
    unscreened: tuple[str, ...]
    """Kinds the policy speaks of that no pattern can follow through a stream."""
    terms: Terms
    """The strictest of the detectors whose patterns these are."""


@dataclass(frozen=True, slots=True)
class Route:
    """Model names, the pool that serves them and the policy that judges them."""

    name: str
    models: tuple[str, ...]
    pool: Pool
    policy: Policy
    policy_name: str
    output: Output
    engine_model: str = ""
    """The engine's own name of the model; "" passes the client's."""

    def facts(self, direction: Direction, tenant: str, principal: str) -> Facts:
        """What the policy is told besides the text."""
        return Facts(direction, self.name, tenant, principal)

    @property
    def named(self) -> tuple[str, ...]:
        """The models that have a name of their own, without globs."""
        return tuple(model for model in self.models if STAR not in model)


class Router:
    """Finds routes by model name; `ModelNames` says which of several globs counts."""

    def __init__(self, routes: Mapping[str, Route], names: ModelNames) -> None:
        self._routes = routes
        self._names = names
        self._found: dict[tuple[str, str], Route] = {}
        self._known = frozenset(model for route in routes.values() for model in route.named)

    @property
    def routes(self) -> Sequence[Route]:
        """All routes."""
        return tuple(self._routes.values())

    def find(self, model: str, path: str) -> Route:
        """The route of a model on an API path.

        Raises:
            BadRequest: 404, as the OpenAI API answers for an unknown model.

        """
        route = self._found.get((model, path))
        if route is not None:
            return route
        name = self._names.route(model, path)
        if name is None:
            raise BadRequest(
                "model_not_found",
                "no route serves this model here; GET /v1/models lists those that are served",
                param="model",
                status=404,
            )
        route = self._routes[name]
        if len(self._found) < MOST_FOUND and len(model) <= LONGEST_FOUND:
            self._found[model, path] = route
        return route

    def known(self, model: str) -> str:
        """The name itself if the configuration spells it out, "_OTHER" otherwise."""
        return model if model in self._known else "_OTHER"
