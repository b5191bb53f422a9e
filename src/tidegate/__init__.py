"""Tidegate: a guarding, routing, recording reverse proxy in front of inference servers."""

__version__ = "0.1.0"
