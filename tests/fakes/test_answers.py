"""The bytes that put-together answers consist of."""

import gzip

from tests.fakes.answers import (
    CLEAN_END,
    Answer,
    Close,
    Pause,
    Reset,
    Send,
    Stall,
    after,
    apart,
    chunk,
    cut,
    first_bytes,
    gzipped,
    json_answer,
    stream,
    then_close,
    trickle,
    until_close,
    whole,
)


def sent(answer: Answer) -> bytes:
    return b"".join(step.data for step in answer if isinstance(step, Send))


def test_whole_states_the_length_of_the_body() -> None:
    expected = b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nhi"

    assert expected == sent(whole(b"hi", headers=[("A", "b")]))


def test_a_status_without_a_known_reason_still_has_one() -> None:
    assert sent(whole(b"", status=599)).startswith(b"HTTP/1.1 599 Status\r\n")


def test_json_keeps_characters_beyond_ascii() -> None:
    assert sent(json_answer({"a": "你"})).endswith('{"a": "你"}'.encode())


def test_bytes_are_sent_as_json_unchanged() -> None:
    assert sent(json_answer(b"{oops")).endswith(b"\r\n\r\n{oops")


def test_gzipped_json_unpacks_to_the_body() -> None:
    head, _, body = sent(gzipped({"a": 1})).partition(b"\r\n\r\n")

    assert b"Content-Encoding: gzip" in head
    assert gzip.decompress(body) == b'{"a": 1}'


def test_a_stream_is_one_chunk_a_piece_with_a_terminal_chunk() -> None:
    answer = stream(b"one", Pause(), b"two")

    assert (Send(b"3\r\none\r\n"), Pause(), Send(b"3\r\ntwo\r\n"), CLEAN_END) == answer[1:]


def test_a_stream_ends_as_told() -> None:
    assert (Send(chunk(b"x")), Close()) == stream(b"x", end=(Close(),))[1:]


def test_a_stream_until_close_has_no_framing() -> None:
    answer = until_close(b"one", Stall())

    assert (Send(b"one"), Stall(), Close()) == answer[1:]
    assert b"chunked" not in sent(answer)


def test_apart_puts_a_pause_behind_each_piece() -> None:
    assert [b"a", Pause(), b"b", Pause()] == list(apart(b"a", b"b"))


def test_cut_loses_nothing() -> None:
    assert cut(b"abcde", 3) == [b"abc", b"de"]


def test_first_bytes_cuts_at_the_byte_named() -> None:
    answer = (Send(b"abc"), Pause(), Send(b"def"), Stall())

    assert (Send(b"abc"), Pause(), Send(b"d"), Reset()) == first_bytes(answer, 4, Reset())


def test_first_bytes_of_a_short_answer_are_all_of_it() -> None:
    assert (Send(b"abc"), Close()) == first_bytes((Send(b"abc"),), 9, Close())


def test_trickle_sends_the_same_bytes_slowly() -> None:
    expected = (Send(b"ab"), Pause(), Send(b"c"), Pause(), Stall(), Pause())

    assert expected == trickle((Send(b"abc"), Stall()), 2)


def test_after_comes_before() -> None:
    assert (Stall(), Send(b"x")) == after(Stall(), (Send(b"x"),))


def test_then_close_closes_behind_a_complete_answer() -> None:
    assert (Send(b"x"), Close()) == then_close((Send(b"x"),))
