import pytest
from tests.proxy.stream.screens import Channels

from tidegate.detectors import scanner
from tidegate.proxy.dialects.base import Channel
from tidegate.proxy.errors import Refused
from tidegate.proxy.stream.holdback import Edit
from tidegate.proxy.stream.track import WATCHED_PIECES, Track

CHANNEL = Channel(0, "content")


def test_what_needs_no_decision_passes_and_the_rest_is_not_taken() -> None:
    track = Track(Channels(), CHANNEL)

    assert track.passes("hello ")
    assert not track.passes("sk-abc")
    assert (track.total, track.decided) == (6, 6)


def test_nothing_passes_while_something_is_pending_or_held() -> None:
    track = Track(Channels(), CHANNEL)
    track.take("sk-a")

    assert not track.passes("x")
    track.push()
    assert (track.total, track.decided) == (4, 0)
    assert not track.passes("x")


def test_what_was_taken_is_decided_together() -> None:
    track = Track(Channels(), CHANNEL)
    for piece in ("a sk-ab", "cdef", " x"):
        track.take(piece)
    track.push()

    assert track.edits == [Edit(2, 11, "[key]")]
    assert track.decided == track.total == 13


def test_the_end_decides_all_and_the_first_stop_stays() -> None:
    track = Track(Channels(), CHANNEL)
    track.take("a bomb1234")
    track.close()
    track.take(" bomb5678")
    track.close()

    assert (track.stop, track.decided) == (2, 19)


def test_a_follower_reads_many_pieces_at_once_and_the_rest_at_the_end() -> None:
    channels = Channels(follow=True)
    track = Track(channels, CHANNEL)
    for _ in range(WATCHED_PIECES):
        assert track.passes("word ")

    assert len(channels.seen) == WATCHED_PIECES
    assert track.passes("word ")
    assert len(channels.seen) == WATCHED_PIECES
    track.close()
    assert len(channels.seen) == WATCHED_PIECES + 1


@pytest.mark.parametrize("lax", [True, False])
def test_a_text_that_cannot_be_searched_is_told_of(
    monkeypatch: pytest.MonkeyPatch, *, lax: bool
) -> None:
    monkeypatch.setattr(scanner, "MOST_CANDIDATES", 1)
    channels = Channels(lax=lax)
    track = Track(channels, CHANNEL)
    assert not track.passes("sk-abcdef sk-abcdef ")
    track.take("sk-abcdef sk-abcdef ")
    if lax:
        track.push()
        assert (track.decided, track.edits) == (20, [])
    else:
        with pytest.raises(Refused):
            track.push()

    assert channels.failed == ["Overloaded"]


def test_a_follower_that_fails_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "MOST_CANDIDATES", 1)
    channels = Channels(follow=True, lax=True)
    track = Track(channels, CHANNEL)
    assert track.passes("word word ")
    track.close()

    assert track.follow is None
    assert channels.failed == ["Overloaded"]
