"""Engines: the inference servers behind the proxy.

Engine: one server, its address and how busy and how well it is.  Pool: engines that can stand in
for each other.  Balancing picks one (`balance.py`), probes watch them (`health.py`), and
`upstream.py` alone knows their sockets.
"""

from .engine import Engine
from .pool import Pool

__all__ = ["Engine", "Pool"]
