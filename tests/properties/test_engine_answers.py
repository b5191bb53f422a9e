"""How the bytes of an engine's answer are cut does not change what is read of it."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tidegate.proxy.engines.connections import EngineConnection

ASK = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\n"


class Wire:
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        self.closed = False

    def write(self, data: bytes) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
SOUND = [
    EARLY + HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n3;x=y\r\ntwo\r\n0\r\n\r\n",
    HEAD + b"Content-Length: 6\r\nContent-Type: a\r\n\r\nonetwo",
    EARLY * 2 + HEAD + b"Content-Length: 0\r\n\r\n",
]
ROTTEN = [
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwoX\r\n0\r\n\r\n",
    HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"HTTP/1.1 abc\r\n\r\n",
]


@given(
    answer=st.sampled_from([*SOUND, *ROTTEN]),
    cuts=st.lists(st.integers(0, 200), max_size=8),
    more=st.sampled_from([b"", b"x", HEAD]),
)
def test_how_an_answer_is_cut_changes_nothing(answer: bytes, cuts: list[int], more: bytes) -> None:
    def read(pieces: list[bytes]) -> tuple[int, bytes, bool, bool, bool]:
        connection = EngineConnection()
        wire: Any = Wire()
        connection.connection_made(wire)
        connection.ask(ASK)
        body = b""
        for piece in pieces:
            connection.data_received(piece)
            body += connection.take()
        return (
            connection.status,
            body,
            connection.complete,
            connection.broken,
            connection.should_close,
        )

    whole = answer + more
    marks = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
    found = read([whole[a:b] for a, b in pairwise(marks)])

    assert found == read([whole])
    assert (found[2], found[3]) == ((True, False) if answer in SOUND else (False, True))
    assert found[4] == (bool(more) or answer in ROTTEN)
