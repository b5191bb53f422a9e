import io

import pytest

from tidegate.proxy.demo.report import Fact, Report, wants_colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(*facts: Fact, colour: bool = False) -> str:
    out = io.StringIO()
    report = Report(out, colour=colour)
    for fact in facts:
        report.fact(fact)
    return out.getvalue()


def test_a_fact_has_a_mark_by_whether_it_holds() -> None:
    text = written(Fact("shown"), Fact("held", holds=True), Fact("failed", holds=False))

    assert text == "     · shown\n     ✓ held\n     ✗ failed\n"


def test_control_characters_do_not_reach_the_terminal() -> None:
    text = written(Fact("a\x1b[2Jb\rc"))

    assert text == "     · a\ufffd[2Jb\ufffdc\n"


def test_colour_is_written_only_if_wanted() -> None:
    assert "\x1b[32m✓\x1b[0m" in written(Fact("held", holds=True), colour=True)


def test_titles_prose_and_verdicts_are_lines() -> None:
    out = io.StringIO()
    report = Report(out, colour=False)
    report.title("Part")
    report.prose("word " * 40)
    report.verdict("all well", good=True)
    report.verdict("not well", good=False)
    lines = out.getvalue().splitlines()

    assert lines[:2] == ["", "Part"]
    assert lines[-2:] == ["  ✓  all well", "  ✗  not well"]
    assert max(map(len, lines)) <= 96


@pytest.mark.parametrize(
    ("out", "environ", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    out: io.StringIO, environ: dict[str, str], *, wanted: bool
) -> None:
    assert wants_colour(out, environ) is wanted
