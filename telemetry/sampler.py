"""Whether a request's spans are exported, decided on arrival because engines are told too.

The names are those of OTEL_TRACES_SAMPLER (OpenTelemetry specification, "SDK environment
variables"); the ratio test is the SDK's own TraceIdRatioBased, so that all parts of a trace agree.
"""

from dataclasses import dataclass
from typing import Final

_LOW_64_BITS: Final = (1 << 64) - 1
_NAMES: Final = frozenset(
    {
        *("always_on", "always_off", "traceidratio"),
        *("parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"),
    }
)


@dataclass(frozen=True, slots=True)
class Sampler:
    """Decides by the caller's decision (if it is followed) or by a share of trace ids."""

    ratio: float = 1.0
    """The share of traces kept, 0..1, where no caller decides."""
    follow_parent: bool = True
    """Take over the caller's sampled flag.  A caller can then force tracing: `traceidratio` as
    sampler, or distrust of incoming contexts, keeps the decision here."""

    def keeps(self, trace_id: str, parent_sampled: bool | None) -> bool:  # noqa: FBT001 - tri-state
        """Whether to export; `parent_sampled` is None if there is no caller's context."""
        if self.follow_parent and parent_sampled is not None:
            return parent_sampled
        if self.ratio >= 1:
            return True
        return int(trace_id, 16) & _LOW_64_BITS < round(self.ratio * (1 << 64))


def named(name: str, argument: str = "") -> Sampler:
    """Return the sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name.

    Raises ValueError for an unknown name or a ratio that is no number in 0..1.
    """
    name = name.strip().lower()
    if name not in _NAMES:
        raise ValueError(f"OTEL_TRACES_SAMPLER: {name!r} is none of {', '.join(sorted(_NAMES))}")
    follow = name.startswith("parentbased_")
    if name.endswith("always_off"):
        return Sampler(ratio=0.0, follow_parent=follow)
    if name.endswith("always_on"):
        return Sampler(ratio=1.0, follow_parent=follow)
    return Sampler(ratio=_ratio(argument), follow_parent=follow)


def _ratio(argument: str) -> float:
    if not argument:
        return 1.0  # what the specification takes when the argument is missing
    try:
        ratio = float(argument)
    except ValueError:
        ratio = -1.0
    if not 0 <= ratio <= 1:
        raise ValueError(f"OTEL_TRACES_SAMPLER_ARG: {argument!r} is no number from 0 to 1")
    return ratio
