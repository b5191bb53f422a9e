"""What a detector reports: a kind, a span and a score, never the text itself."""

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """A span of one segment's original text, half-open in characters.

    `kind` is a dotted name of `kinds.KINDS` ("pii.card"), `rule` the pattern or rule that fired,
    `score` lies in 0..1, and `layer` names the encoding it was found in ("" is plain text).
    """

    kind: str
    start: int
    end: int
    score: float
    rule: str
    layer: str = ""
