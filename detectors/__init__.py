"""Detectors find things in text.  They know no policy and do no I/O.

Segment: a text with its provenance.  Finding: a kind, a span and a score in one segment.
Detector: a pure function from a segment to findings.  Pattern: a shape that can be followed
through a stream.  Scanner: a set of patterns, run over whole texts and over streams alike.
"""

from .detector import Detector
from .finding import Finding
from .pattern import Pattern
from .segment import Segment, Source, Trust

__all__ = ["Detector", "Finding", "Pattern", "Segment", "Source", "Trust"]
