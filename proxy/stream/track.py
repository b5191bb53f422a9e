"""One channel of a stream: its filters, and how far its text has come and is decided.

A channel whose text cannot be searched is let through from there on where the policy says so; else
`Channels.unreadable` raises, and the stream ends.
"""

from collections.abc import Callable
from typing import Protocol

from ...detectors.scanner import UNREADABLE
from ..dialects.base import Channel
from .holdback import Edit, HoldBack, Release

WATCHED_PIECES = 32
"""Reads whose text is shown to a follower together."""


class Channels(Protocol):
    """Who knows what a channel must be screened for."""

    def holdback(self, channel: Channel) -> HoldBack:
        """The filter that decides what goes out."""

    def follower(self, channel: Channel) -> HoldBack | None:
        """A filter that only reports, so it delays nothing; None if there is nothing to report."""

    def unreadable(self, error: Exception) -> None:
        """Note that a filter failed.  Raises Refused unless the policy lets unread text pass."""


class Track:
    """A channel; positions are characters since its start."""

    __slots__ = (
        *("_screening", "_watched", "decided", "edits", "follow", "hold"),
        *("pending", "stop", "total"),
    )

    def __init__(self, screening: Channels, channel: Channel) -> None:
        self._screening = screening
        self.hold = screening.holdback(channel)
        self.follow = screening.follower(channel)
        self._watched: list[str] = []
        self.total = 0
        """Where the text that has come ends."""
        self.decided = 0
        """Where the text that may go out ends."""
        self.edits: list[Edit] = []
        """What is to be done to text that may still have to go out."""
        self.pending: list[str] = []
        """What has come and was not yet shown to the filters."""
        self.stop = -1
        """Where a blocked finding begins; nothing from there on goes out."""

    def take(self, text: str) -> None:
        """Take more of the channel, to be looked at with what else comes in this read."""
        self.total += len(text)
        self.pending.append(text)

    def passes(self, text: str) -> bool:
        """Take more of a channel of which all is decided, if that is decided at once too."""
        try:
            if self.pending or self.decided < self.total or not self.hold.passes(text):
                return False
        except UNREADABLE:
            return False  # it will be raised again, where it is named
        self.total += len(text)
        self.decided = self.total
        self._follow(text)
        return True

    def push(self) -> None:
        """Decide what can be decided of all that has come."""
        text = self.pending[0] if len(self.pending) == 1 else "".join(self.pending)
        self.pending.clear()
        self._follow(text)
        try:
            self._note(self.hold.push(text))
        except UNREADABLE as error:
            self._pass_unread(error)

    def close(self) -> None:
        """Decide everything: the channel has ended."""
        if self.pending:
            self.push()
        try:
            self._note(self.hold.close())
        except UNREADABLE as error:
            self._pass_unread(error)
        if self.follow is not None:
            self._watch(self.follow, self.follow.close)

    def _pass_unread(self, error: Exception) -> None:
        self._screening.unreadable(error)
        self._note(self.hold.give_up())

    def _note(self, release: Release) -> None:
        self.decided = release.upto
        if release.edits:
            self.edits += release.edits
        if self.stop < 0:
            self.stop = release.stop

    def _follow(self, text: str) -> None:
        if self.follow is not None:
            self._watched.append(text)
            if len(self._watched) >= WATCHED_PIECES:
                self._watch(self.follow)

    def _watch(self, follow: HoldBack, then: Callable[[], object] | None = None) -> None:
        """Show the follower what has gone by; it holds nothing up, so it reads many at once."""
        try:
            follow.push("".join(self._watched))
            if then is not None:
                then()
        except UNREADABLE as error:
            self._screening.unreadable(error)
            self.follow = None
        self._watched.clear()
