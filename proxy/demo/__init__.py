"""The demo: two embedded engines, the proxy in front of them, and a guided tour.

Engine: an OpenAI-speaking server in this process.  Tour: eight steps, each with the outcome it
must have.  Scene: what a step may use.  Fact: something that was seen, and whether it holds.
"""

from .run import demo

__all__ = ["demo"]
