"""One engine: where it is, how busy it is with our requests, and whether it may be used.

Two judges speak of its health.  The probe asks regularly; requests that fail eject the engine
for a while (passive ejection), since a probe may be fine while answers are not.
"""

from dataclasses import dataclass, field

from yarl import URL


@dataclass(slots=True)
class Engine:
    """One inference server.  Times are seconds of a monotonic clock that the caller passes in."""

    name: str
    kind: str
    url: URL
    """Base without the API's `/v1`."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The engine's own credential."""
    weight: float = 1.0
    max_inflight: int = 0
    """0: no limit."""
    eject_after: int = 3
    """Failures in a row that eject."""
    eject_for: float = 30.0
    inflight: int = 0
    probed: bool | None = None
    """What the probe said last; None before the first."""
    failures: int = 0
    ejected_until: float = 0.0

    base: str = ""
    """The path before the API's own, without a slash at its end."""
    authority: str = ""
    """The Host header: host, and port where it is not the scheme's."""

    def __post_init__(self) -> None:
        """Spell out what every request needs of the URL."""
        self.base = self.url.raw_path.rstrip("/")
        self.authority = self.url.host_port_subcomponent or ""

    @property
    def host(self) -> str:
        """Its host, for telemetry."""
        return self.url.host or ""

    @property
    def port(self) -> int:
        """Its port, for telemetry."""
        return self.url.port or 0

    @property
    def load(self) -> float:
        """Requests of ours in flight, by weight."""
        return self.inflight / self.weight

    def usable(self, now: float) -> bool:
        """Whether it may be given a request."""
        return self.probed is not False and now >= self.ejected_until and not self.full

    @property
    def full(self) -> bool:
        """Whether it has all the requests it may have."""
        return bool(self.max_inflight) and self.inflight >= self.max_inflight

    def succeeded(self) -> None:
        """Note that a request went well."""
        self.failures = 0

    def failed(self, now: float) -> bool:
        """Note that a request failed; whether this ejects the engine."""
        self.failures += 1
        if self.failures < self.eject_after:
            return False
        self.failures = 0
        self.ejected_until = now + self.eject_for
        return True
