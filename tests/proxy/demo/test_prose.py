from tidegate.proxy.demo.prose import KEY_PIECE_CHARS, MADE_UP_KEY, SLOW_MS, answer_to, pieces


def test_an_ordinary_answer_quotes_the_question() -> None:
    assert "You wrote: “What is a tide?”" in answer_to("What is\n a tide?").text


def test_a_long_question_is_quoted_in_part() -> None:
    text = answer_to("x" * 10_000).text

    assert len(text) < 300


def test_the_same_question_gets_the_same_answer() -> None:
    assert answer_to("again") == answer_to("again")


def test_a_secret_holds_the_whole_key_but_no_piece_looks_like_one() -> None:
    script = answer_to("Tell me a SECRET.")

    assert MADE_UP_KEY in script.text
    assert not [piece for piece in script.pieces if piece.startswith("AKIA")]
    assert max(len(p) for p in script.pieces if p and p in MADE_UP_KEY) == KEY_PIECE_CHARS


def test_a_long_story_has_thousands_of_pieces() -> None:
    assert len(answer_to("tell me a long story").pieces) > 2000


def test_thinking_it_over_takes_longer() -> None:
    assert answer_to("Please think it over.").think_ms == SLOW_MS
    assert answer_to("Please.").think_ms < SLOW_MS


def test_an_empty_question_gets_an_answer() -> None:
    assert answer_to("").pieces


def test_pieces_joined_are_the_text() -> None:
    text = "  One, two;\nand a-rather-long-word. \n"

    assert "".join(pieces(text)) == text
