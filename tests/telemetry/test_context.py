import random
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.telemetry.samples import CALLER, CLIENT, TRACE

from tidegate.telemetry import ContextReader, Ids, Sampler, TraceContext
from tidegate.telemetry.context import Parent, join_tracestate, parse_traceparent

GOOD = f"00-{TRACE}-{CALLER}-01"

hexes = st.text("0123456789abcdef")
ids = st.builds(Ids, st.builds(random.Random, st.integers()))


def reader(*, ratio: float = 1.0, trust: bool = True) -> ContextReader:
    return ContextReader(Ids(random.Random(7)), Sampler(ratio), trust=trust)


def test_a_valid_caller_becomes_the_parent_and_engines_get_our_span() -> None:
    context = reader().read([GOOD], ["congo=t61rcWkgMzE"])

    assert (context.trace_id, context.parent_span_id, context.sampled) == (TRACE, CALLER, True)
    assert context.span_id != CALLER
    assert context.headers(CLIENT) == [
        ("traceparent", f"00-{TRACE}-{CLIENT}-01"),
        ("tracestate", "congo=t61rcWkgMzE"),
    ]


def test_without_a_caller_a_trace_begins() -> None:
    context = reader().read()

    assert (context.parent_span_id, context.trace_state, context.link) == ("", "", "")
    assert context.sampled
    assert context.headers(CLIENT) == [("traceparent", f"00-{context.trace_id}-{CLIENT}-01")]


@pytest.mark.parametrize(
    "value",
    [
        "",
        f"00-{TRACE}-{CALLER}",
        f"00-{TRACE}-{CALLER}-1",
        f"00-{TRACE}-{CALLER}-01-",
        f"00-{TRACE}-{CALLER}-01-more",
        f"00-{TRACE.upper()}-{CALLER}-01",
        f"00-{TRACE}-{CALLER}-0G",
        f"00-{'0' * 32}-{CALLER}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{CALLER}-01",
        f"0-{TRACE}-{CALLER}-01",
        f" 00-{TRACE}-{CALLER}-01",
        f"00_{TRACE}_{CALLER}_01",
        f"01-{TRACE}-{CALLER}-01more",
        f"00-{TRACE[:-1]}\u0660-{CALLER}-01",
        f"00-{TRACE}-{CALLER}-01\n",
    ],
)
def test_an_invalid_traceparent_begins_a_trace_and_drops_the_state(value: str) -> None:
    context = reader().read([value], ["a=b"])

    assert context.trace_id != TRACE
    assert (context.parent_span_id, context.trace_state, context.link) == ("", "", "")


def test_two_traceparent_lines_are_invalid() -> None:
    assert reader().read([GOOD, GOOD]).parent_span_id == ""


def test_a_state_without_a_parent_is_dropped() -> None:
    assert reader().read([], ["a=b"]).trace_state == ""


@pytest.mark.parametrize("more", ["", "-", "-what-the-future-will-bring"])
def test_of_a_higher_version_the_known_fields_and_the_sampled_flag_are_read(more: str) -> None:
    assert Parent(TRACE, CALLER, 1) == parse_traceparent(f"cc-{TRACE}-{CALLER}-ff{more}")
    assert Parent(TRACE, CALLER, 0) == parse_traceparent(f"cc-{TRACE}-{CALLER}-fe{more}")


@pytest.mark.parametrize(
    ("flags", "sent"), [("00", "00"), ("01", "01"), ("03", "03"), ("fe", "02")]
)
def test_unknown_flags_are_zeroed_and_the_random_flag_is_kept(flags: str, sent: str) -> None:
    context = reader().read([f"00-{TRACE}-{CALLER}-{flags}"])

    assert context.headers(CLIENT)[0][1].endswith(f"-{sent}")


def test_a_caller_that_is_not_trusted_is_linked_not_followed() -> None:
    context = reader(trust=False).read([GOOD], ["a=b"])

    assert context.trace_id != TRACE
    assert (context.parent_span_id, context.trace_state, context.link) == ("", "", GOOD)


def test_a_trace_that_is_not_kept_says_so_to_engines() -> None:
    context = reader(ratio=0.0).read()

    assert not context.sampled
    assert context.headers(CLIENT)[0][1].endswith("-00")


@given(ids)
def test_ids_are_hexadecimal_of_the_right_length(made: Ids) -> None:
    trace, span = made.trace_id(), made.span_id()

    assert Parent(trace, span, 1) == parse_traceparent(f"00-{trace}-{span}-01")
    assert len(made.span_bytes()) == 8


@given(ids)
def test_a_uuid_is_random_and_of_the_usual_form(made: Ids) -> None:
    text = made.uuid()

    assert (str(UUID(text)), UUID(text).version) == (text, 4)


def test_ids_are_never_all_zero() -> None:
    class Zero(random.Random):
        def getrandbits(self, k: int, /) -> int:
            return 0

    made = Ids(Zero())

    assert (made.trace_id(), made.span_id()) == ("0" * 31 + "1", "0" * 15 + "1")
    assert made.span_bytes() == bytes(7) + b"\x01"


def test_two_processes_do_not_make_the_same_ids() -> None:
    assert Ids().trace_id() != Ids().trace_id()


@given(st.lists(st.text(max_size=80), max_size=3), st.lists(st.text(max_size=700), max_size=3))
def test_nothing_a_caller_sends_raises_or_is_echoed_unless_valid(
    parents: list[str], states: list[str]
) -> None:
    context = reader().read(parents, states)

    assert _is_valid(context)


@given(
    st.sampled_from(["00", "01", "cc", "ff"]),
    st.from_regex(r"[0-9a-f]{32}", fullmatch=True),
    st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    st.from_regex(r"[0-9a-f]{2}", fullmatch=True),
)
@example("00", "0" * 32, "1" * 16, "01")
def test_what_is_read_is_what_was_written(version: str, trace: str, span: str, flags: str) -> None:
    context = reader().read([f"{version}-{trace}-{span}-{flags}"])

    valid = version != "ff" and int(trace, 16) > 0 and int(span, 16) > 0
    assert (context.trace_id == trace) == valid
    assert context.parent_span_id == (span if valid else "")
    assert _is_valid(context)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a=1,b=2"], "a=1,b=2"),
        (["a=1", "b=2"], "a=1,b=2"),
        (["a=1 , \tb=2\t", "", " ,, c=3"], "a=1,b=2,c=3"),
        (["0tenant@sys=x"], "0tenant@sys=x"),
        (["a_-*/z=! ~"], "a_-*/z=! ~"),
        (["k" * 256 + "=v"], "k" * 256 + "=v"),
        (["k=" + "v" * 256], "k=" + "v" * 256),
        ([",".join(f"k{n}=v" for n in range(32))], ",".join(f"k{n}=v" for n in range(32))),
    ],
)
def test_a_valid_state_passes_in_order(lines: list[str], expected: str) -> None:
    assert expected == join_tracestate(lines)


@pytest.mark.parametrize(
    "line",
    [
        *("a", "=1", "a=", "A=1", "1a=1", "a b=1", "a=1=2", "a=\u00e9", "a=\x07", "a@=1", "@a=1"),
        *("a@b@c=1", "a@1b=1", "a@@b=1", "a=1,a=2", "k" * 257 + "=v", "k=" + "v" * 257),
        "t" * 242 + "@sys=v",
        "t@" + "s" * 15 + "=v",
        ",".join(f"k{n}=v" for n in range(33)),
        "," * 20_000,
    ],
)
def test_an_invalid_state_is_dropped_whole(line: str) -> None:
    assert join_tracestate([line]) == ""


def test_of_a_long_state_large_members_go_first_then_the_last() -> None:
    large, small = "l=" + "x" * 200, [f"k{n:02}=" + "y" * 40 for n in range(12)]

    assert join_tracestate([",".join([large, *small[:8]])]) == ",".join(small[:8])
    assert join_tracestate([",".join([large, *small])]) == ",".join(small[:11])


def test_no_more_large_members_go_than_needed() -> None:
    first, second = "a=" + "x" * 250, "b=" + "x" * 250

    assert join_tracestate([first, second, "c=d"]) == first + "," + second + ",c=d"
    assert join_tracestate([first, second, "c=ddddd"]) == first + ",c=ddddd"


def _is_valid(context: TraceContext) -> bool:
    parent, *state = (value for _, value in context.headers(CLIENT))
    return parse_traceparent(parent) is not None and state in ([], [join_tracestate(state)])
