"""Streams of the OpenAI API and screens for them."""

from collections.abc import Iterable

import orjson

from tidegate.detectors import Finding, Pattern, Segment
from tidegate.detectors.scanner import Scanner
from tidegate.policies import Action
from tidegate.proxy.dialects.base import Channel
from tidegate.proxy.dialects.openai import OpenAI
from tidegate.proxy.errors import Refused
from tidegate.proxy.stream.holdback import HoldBack, Verdict
from tidegate.proxy.stream.screen import StreamScreen

DONE = b"data: [DONE]\n\n"
HELD = Scanner(
    [
        Pattern("key", "secret.key", r"sk-[a-z]{6,12}", 0.9),
        Pattern("ssn", "pii.us_ssn", r"\d{3}-\d{2}-\d{4}", 0.9),
        Pattern("bomb", "test.blocked", r"bomb[0-9]{4}", 0.9),
    ]
)
FOLLOWED = Scanner([Pattern("word", "test.word", r"wor[dk]", 0.9)])


def judge(segment: Segment, finding: Finding, base: int) -> Verdict:
    if finding.kind == "test.blocked":
        return Verdict(Action.BLOCK)
    return Verdict(Action.REDACT, f"[{finding.rule}]")


class Channels:
    """Every channel is screened alike; what followers saw is kept."""

    def __init__(self, *, follow: bool = False, lax: bool = False) -> None:
        self.follow = follow
        self.lax = lax
        self.failed: list[str] = []
        self.seen: list[tuple[Channel, int]] = []

    def holdback(self, channel: Channel) -> HoldBack:
        return HoldBack(HELD, judge, channel.source)

    def follower(self, channel: Channel) -> HoldBack | None:
        if not self.follow:
            return None

        def note(segment: Segment, finding: Finding, base: int) -> Verdict:
            self.seen.append((channel, base + finding.start))
            return Verdict(Action.FLAG)

        return HoldBack(FOLLOWED, note, channel.source)

    def unreadable(self, error: Exception) -> None:
        self.failed.append(type(error).__name__)
        if not self.lax:
            raise Refused("answer_uninspectable", "no")


def screen(
    *, usage: bool = False, names: tuple[str, str] | None = None, follow: bool = False
) -> StreamScreen:
    return StreamScreen(OpenAI(), Channels(follow=follow), wants_usage=usage, names=names)


def event(*choices: dict[str, object], **members: object) -> bytes:
    head = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + orjson.dumps({**head, "choices": choices, **members}) + b"\n\n"


def says(text: str, index: int = 0, finish: str | None = None) -> bytes:
    return event({"index": index, "delta": {"content": text}, "finish_reason": finish})


def ends(index: int = 0, reason: str = "stop") -> bytes:
    return event({"index": index, "delta": {}, "finish_reason": reason})


def run(filter_: StreamScreen, pieces: Iterable[bytes]) -> bytes:
    """All that the client gets, as the relay hands it on."""
    out = b""
    for piece in pieces:
        if filter_.over:
            break
        out += filter_.feed(piece)
    return out + filter_.finish() + filter_.last


def chunks(stream: bytes) -> list[dict[str, object]]:
    """The JSON of each event, without the end marker."""
    events = [e for e in stream.split(b"\n\n") if e.startswith(b"data: ") and e + b"\n\n" != DONE]
    return [orjson.loads(e[6:]) for e in events]


def texts(stream: bytes) -> dict[tuple[int, str, int], str]:
    """What a client puts together for each choice, kind and tool call."""
    out: dict[tuple[int, str, int], str] = {}
    for chunk in orjson.loads(orjson.dumps(chunks(stream))):
        for choice in chunk["choices"]:
            delta = choice.get("delta") or {}
            found = [(n, 0, delta.get(n)) for n in ("content", "reasoning_content", "refusal")]
            found += [
                ("tool", call["index"], call["function"].get("arguments"))
                for call in delta.get("tool_calls") or ()
            ]
            for name, part, text in found:
                if text:
                    key = (choice["index"], name, part)
                    out[key] = out.get(key, "") + text
    return out
