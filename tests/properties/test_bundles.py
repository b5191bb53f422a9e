"""The bundled patterns themselves: a stream of their matches equals the whole text."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.detectors import Finding, Pattern, Segment, Source, Trust
from tidegate.detectors.pii_patterns import PII_PATTERNS
from tidegate.detectors.scanner import Scanner
from tidegate.detectors.secret_patterns import PEM_BODY, SECRET_PATTERNS
from tidegate.policies import Action
from tidegate.proxy.stream.holdback import Edit, HoldBack, Verdict, edited, judged

BUNDLES = Scanner([*PII_PATTERNS, *SECRET_PATTERNS])
LOOSE = Scanner([Pattern("loose", "k", "-a{1,1500}b", 1.0, "", "")])
PEM = "-----BEGIN PRIVATE KEY-----\n"
PGP = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n"
PIECES = st.sampled_from(
    [
        *(
            "a.b@c.com",
            "4111 1111 1111 1111",
            "4111 1111 1111 1112",
            "DE89 3704 0044 0532 0130 00",
        ),
        *("DE89 3704 0044 0532 0130 01", "+49 30 1234567", "tel. ", "030 1234567", "078-05-1120"),
        *("AKIAIOSFODNN7EXAMPLE", "sk-" + "a" * 40, "eyJ" + "a" * 20, ".eyJ", "." + "b" * 20),
        *("eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20, PEM, PGP, "MIIE" * 8, "\\n"),
        *("-----END PRIVATE KEY-----", "-----END PGP PRIVATE KEY BLOCK-----", "\n", " ", "-"),
        *(".", "1", "hello", "世界", "😀", "\ud800"),
    ]
)
LENGTHS = st.sampled_from([15, 16, 880, 899, 900, 901, 2990, 2999, 3000, 3001, 3500, 4790, 5000])


def judge(segment: Segment, finding: Finding, base: int) -> Verdict:
    del segment, base
    return Verdict(Action.REDACT, f"[{finding.rule}]")


def whole(scanner: Scanner, text: str) -> str:
    segment = Segment(text, (), Source.ASSISTANT, Trust.MODEL)
    return edited(text, judged(segment, scanner.find(segment), judge)[0])


def streamed(scanner: Scanner, pieces: list[str]) -> str:
    hold = HoldBack(scanner, judge, Source.ASSISTANT)
    edits: list[Edit] = []
    for piece in pieces:
        edits += hold.push(piece).edits
    edits += hold.close().edits
    return edited("".join(pieces), edits)


def cut(text: str, marks: list[int]) -> list[str]:
    inner = sorted({0, len(text), *(mark % (len(text) + 1) for mark in marks)})
    return [text[a:b] for a, b in pairwise(inner)]


CUTS = st.lists(st.integers(0, 20_000), max_size=8)


@settings(max_examples=300, deadline=None)
@given(text=st.lists(PIECES, max_size=10).map("".join), marks=CUTS)
def test_texts_of_matching_pieces(text: str, marks: list[int]) -> None:
    expected = whole(BUNDLES, text)

    assert expected == streamed(BUNDLES, cut(text, marks))


@settings(max_examples=80, deadline=None)
@given(
    head=LENGTHS, payload=LENGTHS, signature=LENGTHS, marks=CUTS, start=st.sampled_from("-. 世")
)
def test_tokens_around_their_limits(
    head: int, payload: int, signature: int, marks: list[int], start: str
) -> None:
    token = f"eyJ{'a' * head}.eyJ{'b' * payload}.{'c' * signature}"
    text = f"x{start}{token}.eyJ{'d' * 20}.{'e' * 20} end"
    expected = whole(BUNDLES, text)

    assert expected == streamed(BUNDLES, cut(text, marks))


@settings(max_examples=80, deadline=None)
@given(
    armour=st.sampled_from(
        [(PEM, "-----END PRIVATE KEY-----"), (PGP, "-----END PGP PRIVATE KEY BLOCK-----")]
    ),
    over=st.integers(-60, 120),
    after=st.sampled_from(["", "\nhello", PEM + "A" * 40, "-----END"]),
    marks=CUTS,
)
def test_armoured_keys_around_their_limits(
    armour: tuple[str, str], over: int, after: str, marks: list[int]
) -> None:
    begin, end = armour
    text = f"key: {begin}{'A' * (16 + PEM_BODY + over)}{end}{after}"
    expected = whole(BUNDLES, text)

    assert expected == streamed(BUNDLES, cut(text, marks))


@settings(max_examples=100, deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.integers(1, 2500), st.sampled_from(["b", ".", "-", "世"])), max_size=5
    ),
    marks=CUTS,
)
def test_a_long_repeat_before_the_end_of_a_pattern(
    runs: list[tuple[int, str]], marks: list[int]
) -> None:
    text = "".join(f"-{'a' * length}{end}" for length, end in runs)
    expected = whole(LOOSE, text)

    assert expected == re.sub("-a{1,1500}b", "[loose]", text)
    assert expected == streamed(LOOSE, cut(text, marks))


def test_what_is_too_long_is_no_match_wherever_it_is_cut() -> None:
    text = "-" + "a" * 2000 + "b."

    assert whole(LOOSE, text) == text
    assert streamed(LOOSE, list(text)) == text
