"""The configuration: `tidegate.yaml` and TIDEGATE_ variables, typed, checked, never changing.

Listener: an address clients connect to.  Engine: an inference server.  Pool: engines that stand
in for each other.  Route: model names → pool and policy.  Key: a caller and what it may use.
"""

from .document import (
    AccessKeys,
    Admin,
    Anonymous,
    Audit,
    Config,
    Detector,
    Direction,
    Eject,
    Engine,
    Health,
    Key,
    Listener,
    Otlp,
    PolicyFile,
    Pool,
    Route,
    Telemetry,
)
from .limits import Limits
from .load import ConfigError, load
from .names import ModelNames
from .reference import describe

__all__ = [
    "AccessKeys",
    "Admin",
    "Anonymous",
    "Audit",
    "Config",
    "ConfigError",
    "Detector",
    "Direction",
    "Eject",
    "Engine",
    "Health",
    "Key",
    "Limits",
    "Listener",
    "ModelNames",
    "Otlp",
    "PolicyFile",
    "Pool",
    "Route",
    "Telemetry",
    "describe",
    "load",
]
