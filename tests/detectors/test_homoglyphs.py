from tidegate.detectors.homoglyphs import HOMOGLYPHS


def test_every_look_alike_is_one_letter_outside_ascii() -> None:
    assert all(len(letter) == 1 and not letter.isascii() for letter in HOMOGLYPHS)
    assert all(
        len(latin) == 1 and latin.isascii() and latin.isalnum() for latin in HOMOGLYPHS.values()
    )


def test_letters_that_can_pass_for_latin_are_read_so() -> None:
    assert "".join(HOMOGLYPHS[letter] for letter in "аеорсухі") == "aeopcyxi"  # noqa: RUF001
