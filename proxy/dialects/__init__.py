"""Dialects: the wire languages that clients and engines speak.

A dialect knows where text stands in a body, how a stream is framed, how usage and endings are
said, and how to refuse in it.  It is pure: bytes and trees in, bytes and trees out.
Endpoint: one method and path of a dialect.  Segment: one text found in a body.
"""

from .base import Dialect, Endpoint, StreamEvent, Uninspected

__all__ = ["Dialect", "Endpoint", "StreamEvent", "Uninspected"]
