"""A stream screened piece by piece equals the whole text screened at once."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.detectors import Finding, Pattern, Segment, Source, Trust
from tidegate.detectors.scanner import Scanner
from tidegate.policies import Action
from tidegate.proxy.stream.holdback import Edit, HoldBack, Judge, Verdict, edited, judged

PATTERNS = (
    Pattern(
        "email",
        "pii.email",
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}",
        1.0,
        left="A-Za-z0-9._%+-",
    ),
    Pattern("card", "pii.card", r"\d(?:[ -]?\d){12,18}", 1.0, check=lambda t: t[0] == "4"),
    Pattern("ssn", "pii.us_ssn", r"\d{3}-\d{2}-\d{4}", 0.8),
    Pattern("phone", "pii.phone", r"\+\d{1,3}(?:[ .-]?\d{1,4}){2,5}", 0.5, context="(?i)tel|电话"),
    Pattern("key", "secret.aws_key", r"AKIA[A-Z0-9]{16}", 0.9),
    Pattern("ab", "pii.iban", r"(?:ab){1,3}c?|abd", 0.4, left="", right=""),
    Pattern(
        "pem",
        "secret.private_key",
        r"--BEGIN [A-Z ]{0,24}KEY--[A-Za-z0-9\n]{0,40}(?:--END KEY--)?",
        0.9,
        left="",
        right="",
    ),
)
PIECES = st.sampled_from(
    [
        *("a.b@c.com", "x@y", "@", ".", "4111 1111 1111 1111", "41111111111111119", "-", " "),
        *(
            "078-05-1120",
            "078-05-112",
            "+49 30 1234567",
            "tel ",
            "电话",
            "AKIA",
            "ABCDEFGH12345678",
        ),
        *(
            "ab",
            "abab",
            "abd",
            "c",
            "ababababc",
            "--BEGIN KEY--",
            "--BEGIN RSA KEY--",
            "aGVsbG8\n",
        ),
        *("--END KEY--", "hello", "世界", "é", "\n", "😀", "1", "a" * 50, "\ud800", "_"),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)
BLOCKING = st.sampled_from([frozenset[str](), frozenset({"pii.us_ssn"})])


def judge_for(blocked: frozenset[str]) -> Judge:
    def judge(segment: Segment, finding: Finding, base: int) -> Verdict:
        if finding.kind in blocked:
            return Verdict(Action.BLOCK)
        if finding.kind == "pii.phone":
            return Verdict(Action.FLAG)
        return Verdict(Action.REDACT, f"[{finding.rule}]")

    return judge


def cut(text: str, cuts: list[int]) -> list[str]:
    marks = sorted({0, len(text), *(c % (len(text) + 1) for c in cuts)})
    return [text[a:b] for a, b in pairwise(marks)]


def whole(scanner: Scanner, text: str, blocked: frozenset[str]) -> str:
    segment = Segment(text, (), Source.ASSISTANT, Trust.MODEL)
    edits, stop = judged(segment, scanner.find(segment), judge_for(blocked))
    return edited(text if stop < 0 else text[:stop], edits)


def streamed(scanner: Scanner, pieces: list[str], blocked: frozenset[str]) -> str:
    """Each piece goes out once all of it is decided, as the relay does."""
    hold = HoldBack(scanner, judge_for(blocked), Source.ASSISTANT)
    edits: list[Edit] = []
    stop = -1
    upto = 0
    for piece in pieces:
        release = hold.push(piece)
        assert upto <= release.upto
        edits += release.edits
        stop = release.stop if stop < 0 else stop
        upto = release.upto
        if stop >= 0:
            break
    else:
        release = hold.close()
        edits, stop = edits + release.edits, release.stop
    out, at = "", 0
    for piece in pieces:
        kept = piece if stop < 0 else piece[: max(0, stop - at)]
        out += edited(kept, edits, at)
        at += len(piece)
    return out


SCANNER = Scanner(PATTERNS)


@settings(max_examples=1500, deadline=None)
@given(text=TEXTS, cuts=st.lists(st.integers(0, 400), max_size=12), blocked=BLOCKING)
def test_any_cut_gives_the_whole_result(
    text: str, cuts: list[int], blocked: frozenset[str]
) -> None:
    expected = whole(SCANNER, text, blocked)

    assert expected == streamed(SCANNER, cut(text, cuts), blocked)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, blocked=BLOCKING)
def test_one_character_at_a_time_gives_the_whole_result(
    text: str, blocked: frozenset[str]
) -> None:
    expected = whole(SCANNER, text, blocked)

    assert expected == streamed(SCANNER, list(text), blocked)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_no_more_is_held_than_twice_the_reach(text: str) -> None:
    hold = HoldBack(SCANNER, judge_for(frozenset()), Source.ASSISTANT)

    for character in text * 5:
        hold.push(character)
        assert len(hold.held) <= 2 * SCANNER.reach
