from tidegate.detectors.injection.learned.variants import SIMPLIFIED


def test_variants_are_single_characters_and_lead_to_no_further_variant() -> None:
    assert len(SIMPLIFIED) > 150
    assert all(len(old) == len(new) == 1 for old, new in SIMPLIFIED.items())
    assert not set(SIMPLIFIED) & set(SIMPLIFIED.values())
