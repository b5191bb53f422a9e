import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.detectors import Finding, Pattern, Segment, Source, Trust
from tidegate.detectors.scanner import Scanner
from tidegate.policies import Action
from tidegate.proxy.stream.holdback import Edit, HoldBack, Release, Verdict, edited, judged

SCANNER = Scanner(
    [
        Pattern("key", "secret.key", r"sk-[a-z]{6}", 0.9),
        Pattern("pin", "pii.pin", r"\d{4}", 0.9, context="pin"),
        Pattern("ab", "pii.ab", r"ab{1,4}", 0.5, "", ""),
        Pattern("bbc", "pii.bbc", r"bbc", 0.9, "", ""),
    ]
)


def hold(action: Action = Action.REDACT) -> HoldBack:
    return HoldBack(SCANNER, lambda s, f, b: Verdict(action, "[X]"), Source.ASSISTANT)


def test_what_no_match_can_claim_is_released_at_once() -> None:
    filter_ = hold()

    assert Release(5, []) == filter_.push("hello")
    assert filter_.held == ""


@settings(max_examples=500, deadline=None)
@given(pieces=st.lists(st.sampled_from([*"ab c-sk12", "hello ", "sk-abcdef", "pin ", "世"])))
def test_what_passes_is_what_a_push_would_have_released(pieces: list[str]) -> None:
    pushed, asked = hold(), hold()
    end = 0
    for piece in pieces:
        end += len(piece)
        release = pushed.push(piece)
        if asked.passes(piece):
            assert release == Release(end, [])
        else:
            assert asked.push(piece) == release

    assert asked.close() == pushed.close()


def test_a_beginning_does_not_pass() -> None:
    filter_ = hold()

    assert not filter_.passes("hello sk-abc")
    assert filter_.held == ""
    assert filter_.passes("hello ")


def test_a_beginning_is_held_until_it_is_decided() -> None:
    filter_ = hold()

    assert Release(6, []) == filter_.push("hello sk-abc")
    assert filter_.held == "sk-abc"
    assert Release(6, []) == filter_.push("def")
    assert Release(16, [Edit(6, 15, "[X]")]) == filter_.push(" ")
    assert filter_.held == ""


def test_what_turns_out_to_be_nothing_is_released_unchanged() -> None:
    filter_ = hold()

    assert Release(0, []) == filter_.push("sk-xyz")
    assert Release(7, []) == filter_.push("!")


def test_the_end_decides_what_is_held() -> None:
    filter_ = hold()
    filter_.push("sk-abcdef")

    assert Release(9, [Edit(0, 9, "[X]")]) == filter_.close()
    assert Release(9, []) == filter_.close()


def test_a_match_that_touches_the_place_of_another_waits_with_it() -> None:
    filter_ = hold()

    assert Release(0, []) == filter_.push("abb")
    assert Release(0, []) == filter_.push("c")
    assert Release(5, [Edit(0, 4, "[X]")]) == filter_.push(".")


def test_a_blocked_finding_is_the_stop() -> None:
    filter_ = hold(Action.BLOCK)

    assert Release(15, [], 5) == filter_.push("some sk-abcdef ")


def test_flagged_findings_change_nothing() -> None:
    assert Release(10, []) == hold(Action.FLAG).push("sk-abcdef ")


def test_context_words_count_after_they_were_released() -> None:
    filter_ = hold()

    assert Release(4, []) == filter_.push("pin ")
    assert Release(47, []) == filter_.push("." * 43)
    assert Release(52, [Edit(47, 51, "[X]")]) == filter_.push("1234 ")


def test_places_count_from_the_start_of_the_channel() -> None:
    filter_ = hold()
    for _ in range(100):
        filter_.push("hello world ")

    assert Release(1210, [Edit(1200, 1209, "[X]")]) == filter_.push("sk-abcdef ")


def test_released_text_is_forgotten_but_for_the_reach_of_contexts() -> None:
    seen: list[Segment] = []

    def judge(segment: Segment, finding: Finding, base: int) -> Verdict:
        seen.append(segment)
        return Verdict(Action.ALLOW)

    filter_ = HoldBack(SCANNER, judge, Source.REASONING, ("choices", 0))
    filter_.push("x " * 5000)
    filter_.push("sk-abcdef ")

    assert [(s.start, s.where, s.source, s.trust) for s in seen] == [
        (49, ("choices", 0), Source.REASONING, Trust.MODEL)
    ]
    assert len(seen[0].text) == 59


TEXT = Segment("0123456789", (), Source.ASSISTANT, Trust.MODEL)


def found(*spans: tuple[int, int]) -> list[Finding]:
    return [Finding(str(start), start, end, 1.0, "r") for start, end in spans]


def test_overlapping_edits_become_one_under_the_first_mask() -> None:
    edits, stop = judged(
        TEXT, found((0, 4), (2, 3), (3, 6), (6, 7)), lambda s, f, b: Verdict(Action.REDACT, f.kind)
    )

    assert [Edit(0, 6, "0"), Edit(6, 7, "6")] == edits
    assert stop == -1


def test_what_follows_a_blocked_finding_is_not_judged() -> None:
    def judge(segment: Segment, finding: Finding, base: int) -> Verdict:
        return Verdict(Action.BLOCK if finding.start == 3 else Action.REDACT, finding.kind)

    assert ([Edit(101, 102, "1")], 103) == judged(TEXT, found((1, 2), (3, 4), (5, 6)), judge, 100)


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [(0, 10, "01[A]56[]9"), (0, 3, "01[A]"), (3, 6, "5"), (4, 5, ""), (5, 7, "56"), (8, 10, "9")],
)
def test_a_replacement_goes_into_the_piece_its_edit_begins_in(
    start: int, end: int, shown: str
) -> None:
    edits = [Edit(2, 5, "[A]"), Edit(7, 9, "[]")]

    assert shown == edited(TEXT.text[start:end], edits, start)


def test_without_edits_a_text_stays() -> None:
    assert edited("text", [], 7) == "text"


def test_given_up_it_lets_all_pass() -> None:
    filter_ = hold()
    filter_.push("x sk-abc")

    assert Release(8, []) == filter_.give_up()
    assert Release(18, []) == filter_.push("sk-abcdef ")
    assert Release(18, []) == filter_.close()
