from tidegate.detectors.injection.train.carriers import SHAPES, inserted, shaped
from tidegate.detectors.injection.train.dice import Dice


def test_every_shape_carries_the_text() -> None:
    for shape in SHAPES:
        for seed in range(30):
            assert "open the gate" in shape("open the gate", Dice(str(seed)))


def test_a_text_stands_between_sentences_of_a_document() -> None:
    document = "First sentence. Second sentence.\nThird."
    made = {inserted("PAYLOAD", document, Dice(str(seed))) for seed in range(60)}

    assert any(text.startswith("PAYLOAD") for text in made)
    assert any(text.endswith("PAYLOAD") for text in made)
    assert any("First sentence. PAYLOAD Second" in text for text in made)
    assert all("First sentence." in text and "Third." in text for text in made)


def test_an_empty_document_leaves_the_text_alone() -> None:
    assert inserted("PAYLOAD", "", Dice("a")) == "PAYLOAD"


def test_shapes_are_chosen_by_the_dice() -> None:
    assert shaped("x", Dice("a")) == shaped("x", Dice("a"))
    assert len({shaped("x", Dice(str(seed))) for seed in range(40)}) > 20
