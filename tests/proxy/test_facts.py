import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict
from tests.proxy.exchanges import Shapes, attempt, exchange, policy, reading, route, text

from tidegate.audit.record import Stamp, encode
from tidegate.detectors import Finding, Segment
from tidegate.policies import Action, Decision, Direction, Hit
from tidegate.proxy import facts
from tidegate.proxy.access import Principal
from tidegate.proxy.dialects import Uninspected
from tidegate.proxy.dialects.base import Usage
from tidegate.proxy.dialects.openai import OpenAI
from tidegate.proxy.errors import BadRequest, EngineFailed, Refused
from tidegate.proxy.exchange import Exchange, Run
from tidegate.proxy.facts import MOST_FINDS, MOST_SKIPS, MOST_SPANS, MOST_TOKENS
from tidegate.proxy.inspect import Inspector
from tidegate.proxy.screening import Screening
from tidegate.telemetry import Stage

STAMP = Stamp(1, "log", 2)
POLICY = policy(key="redact", bomb="block", word="flag")


def judged(*segments: Segment) -> Exchange:
    """An exchange whose texts were inspected and decided upon."""
    x = exchange()
    x.endpoint = OpenAI().endpoint("POST", "/v1/chat/completions")
    x.principal = Principal("joe", "tenant", ("*",), "key1")
    x.route = route(POLICY)
    x.reading = reading(*segments)
    x.runs = Inspector([Shapes()]).inspect(segments, Direction.INPUT)
    told = x.route.facts(Direction.INPUT, "tenant", "joe")
    x.decision = POLICY.decide(told, [found for run in x.runs for found in run.found])
    return x


def record(x: Exchange, *, end: bool = False) -> dict[str, object]:
    fields: dict[str, object] = orjson.loads(
        encode(facts.closing(x) if end else facts.opening(x), STAMP)
    )
    return fields


def found(count: int, *where: str | int, kind: str = "test.key") -> list[tuple[Segment, Finding]]:
    place = text("", *where)
    return [(place, Finding(kind, n, n + 1, 0.9, "r")) for n in range(count)]


def test_an_opening_tells_who_asked_what_and_how_it_was_decided() -> None:
    opening = record(judged(text("a sk-abcdef")))

    assert opening["req"] == {
        "id": "request-1",
        "cid": "theirs",
        "trace": "a" * 32,
        "span": "b" * 16,
        "api": "openai.chat",
        "op": "chat",
        "ip": "192.0.2.7",
        "ua": "agent/1",
        "method": "POST",
        "path": "/v1/chat/completions",
    }
    assert opening["who"] == {"tenant": "tenant", "sub": "joe", "auth": "key", "key": "key1"}
    assert opening["route"] == {"req": "m", "model": "chat", "pool": "main"}
    assert opening["pol"] == {"id": "p", "sha": POLICY.digest[:32], "rules": ["key-redact"]}
    assert (opening["act"], opening["t"]) == ("redact", 6000)


def test_a_finding_is_told_by_kind_place_and_span() -> None:
    (find,) = facts.opening(judged(text("a sk-abcdef"))).find

    assert (find.det, find.verdict, find.phase, find.cat) == ("shapes", "hit", "in", "test.key")
    assert (find.n, find.spans, find.src) == (1, [(2, 11)], "messages[0].content")
    assert (find.act, find.rule) == ("redact", "key-redact")


def test_a_detector_that_found_nothing_is_told_too() -> None:
    (find,) = facts.opening(judged(text("clean"))).find

    assert (find.det, find.ver, find.verdict, find.n, find.src) == ("shapes", "1", "pass", 0, "")


def test_a_finding_no_rule_spoke_of_has_no_action() -> None:
    (find,) = facts.opening(judged(text("078-05-1120"))).find

    assert (find.cat, find.act, find.rule) == ("test.ssn", "", "")


def test_the_strictest_hit_of_a_place_and_kind_is_told() -> None:
    x = judged(text("sk-abcdef sk-ghijkl"))
    place, finding = x.runs[0].found[0]
    hits = [Hit(f"r{a}", a, place, finding) for a in (Action.FLAG, Action.BLOCK, Action.ALLOW)]
    x.decision = Decision(Action.BLOCK, tuple(hits))
    (find,) = facts.opening(x).find

    assert (find.n, find.act, find.rule) == (2, "block", "r3")


def test_an_opening_without_a_caller_or_a_route_tells_what_there_is() -> None:
    x = exchange()
    x.failed(BadRequest("invalid_json", "m"), 0)
    opening = record(x)

    assert (opening["act"], opening["why"]) == ("error", "invalid_json")
    assert not {"who", "route", "pol", "find"} & set(opening)


def test_a_model_no_route_serves_is_on_record() -> None:
    x = exchange()
    x.principal = Principal("anonymous", "", ("*",))
    x.reading = reading()
    opening = record(x)

    assert opening["route"] == {"req": "m"}
    assert opening["who"] == {"sub": "anonymous", "auth": "anonymous"}


def test_a_refused_request_was_blocked_not_in_error() -> None:
    x = judged(text("bomb1234"))
    x.failed(Refused("content_filter", "no"), 0)

    assert facts.opening(x).act == "block"


def test_parts_that_were_not_inspected_are_listed() -> None:
    x = exchange()
    x.uninspected = [Uninspected(("messages", 0, "content", 1, "image_url"), "image", 9)]

    assert record(x)["skip"] == [
        {"where": "messages[0].content[1].image_url", "type": "image", "bytes": 9}
    ]


def test_parts_beyond_the_limit_are_counted() -> None:
    x = exchange()
    x.uninspected = [Uninspected(("prompt", n), "tokens", 10) for n in range(MOST_SKIPS + 5)]
    skips = facts.opening(x).skip

    assert len(skips) == MOST_SKIPS + 1
    assert (skips[-1].where, skips[-1].kind, skips[-1].bytes) == ("*", "more", 50)


def settled() -> Exchange:
    x = judged(text("hi"))
    x.record_id = "opening-1"
    x.attempts = [attempt(), attempt()]
    x.attempts[0].error, x.attempts[0].end_ns = "reset", 9_000_000
    x.attempts[1].status, x.attempts[1].end_ns = 200, 17_000_000
    x.attempts[1].first_token_ns = 16_000_000
    x.usage, x.usage_estimated = Usage(5, 7), True
    x.finish_reasons, x.model_answered, x.answer_length = ["stop"], "engine/m", 12
    x.wait_audit_ns = 2_000_000
    x.timeline.read, x.timeline.inspected = 1_100_000, 1_200_000
    x.timeline.recorded, x.timeline.answered = 4_000_000, 12_000_000
    x.settle(200)
    x.timeline.settled = 13_000_000
    return x


def test_a_closing_tells_how_it_ended() -> None:
    closing = record(settled(), end=True)

    assert (closing["ref"], closing["code"], closing["st"]) == ("opening-1", 200, "complete")
    assert (closing["act"], closing["why"]) == ("allow", "ok")
    assert closing["lat"] == {"total": 12_000, "ttft": 10_000, "audit": 2000}
    assert closing["out"] == {"len": 12, "fin": ["stop"]}
    assert closing["use"] == {"in": 5, "out": 7, "est": True}
    assert closing["route"] == {
        "model": "engine/m",
        "att": [
            {"ep": "one", "err": "reset", "dur": 2000},
            {"ep": "one", "code": 200, "dur": 10000},
        ],
    }


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ("ok", "complete"),
        ("refused", "complete"),
        ("client_left", "aborted"),
        ("internal", "aborted"),
    ],
)
def test_what_broke_off_was_aborted(outcome: str, state: str) -> None:
    x = exchange()
    x.outcome = outcome

    assert state == facts.closing(x).st


def test_a_failed_request_names_its_error() -> None:
    x = exchange()
    x.failed(EngineFailed("truncated", "m"), 200)
    closing = record(x, end=True)

    assert (closing["err"], closing["st"]) == ("truncated", "aborted")
    assert not {"use", "route"} & set(closing)


def test_what_was_found_in_the_answer_is_in_the_closing() -> None:
    x = settled()
    Screening(x, route(POLICY)).whole([text("a sk-abcdef", "choices", 0, "text")])
    (find,) = facts.closing(x).find

    assert (find.phase, find.cat, find.src) == ("out", "test.key", "choices[0].text")
    assert (find.act, find.rule, find.spans) == ("redact", "key-redact", [(2, 11)])
    assert [find.phase for find in facts.opening(x).find] == ["in"]


def test_kinds_no_pattern_follows_are_listed_as_unscreened() -> None:
    x = settled()
    x.route = route(policy(key="redact", odd="flag"))

    assert [(s.where, s.kind) for s in facts.closing(x).skip] == [("answer", "test.odd")]
    x.answer_length = 0
    assert facts.closing(x).skip == []


def test_a_measurement_tells_numbers_and_names() -> None:
    x = settled()
    told = facts.measurement(x, "m")

    assert (told.request_id, told.trace_id, told.span_id) == ("request-1", "a" * 32, "b" * 16)
    assert (told.parent_span_id, told.trace_state, told.sampled) == ("c" * 16, "k=v", True)
    assert (told.path, told.operation, told.route) == ("/v1/chat/completions", "chat", "chat")
    assert (told.tenant, told.principal, told.model, told.link) == ("tenant", "joe", "m", "link")
    assert (told.status, told.outcome, told.action) == (200, "ok", "allow")
    assert (told.start_ns, told.first_byte_ns, told.end_ns) == (6_000_000, 17_000_000, 18_000_000)
    assert (told.input_tokens, told.output_tokens, told.tokens_estimated) == (5, 7, True)
    assert told.stages == [
        Stage("inspect.input", 6_100_000, 6_200_000),
        Stage("wait.audit", 7_000_000, 9_000_000),
    ]


def test_a_measurement_of_nearly_nothing_has_nothing() -> None:
    x = exchange()
    x.failed(BadRequest("too_large", "m", status=413), 0)
    told = facts.measurement(x, "_OTHER")

    assert (told.path, told.route, told.principal, told.model_requested) == ("", "", "", "")
    assert (told.input_tokens, told.output_tokens, told.stages, told.findings) == (-1, -1, [], {})
    assert (told.status, told.outcome) == (413, "bad_request")


def test_a_measurement_counts_findings_of_both_directions() -> None:
    x = judged(text("sk-abcdef sk-ghijkl word"))
    Screening(x, route(POLICY)).whole([text("sk-abcdef bomb1234", "choices", 0, "text")])
    told = facts.measurement(x, "m")

    assert told.findings == {"test.key": 3, "test.word": 1, "test.bomb": 1}
    assert told.action == "block"


def test_ten_thousand_findings_fit_a_record() -> None:
    x = judged()
    places = [("messages", n, "content") for n in range(5000)]
    x.runs = [
        Run("d", "1", "input", "hit", 1, [f for p in places for f in found(2, *p)]),
        Run("e", "1", "input", "hit", 1, found(10_000, "prompt")),
        Run("f", "1", "input", "pass", 1),
    ]
    opening = facts.opening(x)

    assert len(encode(opening, STAMP)) < 32 << 10
    assert [find.n for find in opening.find] == [2] * MOST_FINDS + [9904, 10_000, 0]
    assert [find.cat for find in opening.find[-3:]] == ["*", "*", ""]


def test_spans_of_one_place_are_bounded() -> None:
    x = judged()
    x.runs = [Run("d", "1", "input", "hit", 1, found(100, "prompt"))]
    (find,) = facts.opening(x).find

    assert (find.n, len(find.spans)) == (100, MOST_SPANS)


@pytest.mark.parametrize("key", ["4111111111111111", "a b", "é", "\x00" * 500, "a" * 33, ""])
def test_keys_that_are_no_plain_names_stay_out_of_paths(key: str) -> None:
    x = judged()
    x.runs = [Run("d", "1", "input", "hit", 1, found(1, "metadata", key, 0))]
    x.uninspected = [Uninspected(("metadata", key), "image", 1)]
    opening = facts.opening(x)

    assert (opening.find[0].src, opening.skip[0].where) == ("metadata.*[0]", "metadata.*")


def test_paths_are_cut() -> None:
    x = judged()
    x.runs = [Run("d", "1", "input", "hit", 1, found(1, *["properties"] * 50))]

    assert len(facts.opening(x).find[0].src) == 128


def test_what_an_engine_says_is_bounded() -> None:
    x = settled()
    x.usage = Usage(10**30, -5)
    x.finish_reasons = ["stop", "the PROMPT was bad", *["length"] * 50]
    x.model_answered = "m" * 10_000
    closing, told = facts.closing(x), facts.measurement(x, "m")

    assert len(encode(closing, STAMP)) < 2000
    assert record(x, end=True)["use"] == {"in": MOST_TOKENS, "est": True}
    assert (told.input_tokens, told.output_tokens) == (MOST_TOKENS, -5)
    assert told.finish_reasons == ["stop", "other", *["length"] * 14]
    assert len(told.model_answered) == 128


MARKERS = st.text(st.sampled_from("qxzvjk"), min_size=12, max_size=20)
FRAMES = st.sampled_from(["{}", "a {} b", "sk-abcdef {}", "{} bomb1234", "word {} 078-05-1120"])


@settings(max_examples=100, deadline=None)
@given(marker=MARKERS, asked=FRAMES, answered=FRAMES, secret=st.booleans())
def test_no_text_leaves_a_request(marker: str, asked: str, answered: str, *, secret: bool) -> None:
    marked = f"sk-{marker[:12]}" if secret else marker
    x = judged(text(asked.format(marked)), text(marked, "metadata", "note"))
    x.body = asked.format(marked).encode()
    x.tree = {"prompt": asked.format(marked)}
    x.attempts = [attempt()]
    Screening(x, route(POLICY)).whole([text(answered.format(marked), "choices", 0, "text")])
    x.settle(200)
    leaving = [
        encode(facts.opening(x), STAMP).decode(),
        encode(facts.closing(x), STAMP).decode(),
        repr(facts.measurement(x, "m")),
        repr(asdict(facts.measurement(x, "m"))),
    ]

    assert not any(marker[:12] in told for told in leaving)
