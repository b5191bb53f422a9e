"""The reference of all keys, and that the documentation holds it."""

from pathlib import Path

import pytest

from tidegate.proxy.config import describe
from tidegate.proxy.config.reference import BEGIN, END, Setting, render, spliced

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"
SETTINGS = {setting.key: setting for setting in describe()}


def test_the_documentation_is_current() -> None:
    page = PAGE.read_text("utf-8")

    assert page == spliced(page), "run: python -m tidegate.proxy.config docs/configuration.md"


def test_every_key_is_described() -> None:
    assert [setting.key for setting in SETTINGS.values() if not setting.description] == []
    assert len(SETTINGS) == len(describe())


@pytest.mark.parametrize(
    ("key", "sort", "default", "variable"),
    [
        ("engines.<name>.url", "text", "required", "TIDEGATE_ENGINES__<NAME>__URL"),
        ("pools.<name>.eject.for", "duration", "`30s`", "TIDEGATE_POOLS__<NAME>__EJECT__FOR"),
        ("pools.<name>.engines", "list of texts", "required", "TIDEGATE_POOLS__<NAME>__ENGINES"),
        ("pools.<name>.required", "true or false", "`true`", "TIDEGATE_POOLS__<NAME>__REQUIRED"),
        ("limits.body", "size", "`32MiB`", "TIDEGATE_LIMITS__BODY"),
        ("limits.keepalive", "duration", "`75s`", "TIDEGATE_LIMITS__KEEPALIVE"),
        ("audit.dir", "path", "`audit`", "TIDEGATE_AUDIT__DIR"),
        ("engines.<name>.max_inflight", "whole number", "",
         "TIDEGATE_ENGINES__<NAME>__MAX_INFLIGHT"),
        ("access.anonymous.routes", "list of texts", "`['*']`",
         "TIDEGATE_ACCESS__ANONYMOUS__ROUTES"),
        (
            "telemetry.otlp.headers.<name>", "secret text", "",
            "TIDEGATE_TELEMETRY__OTLP__HEADERS__<NAME>",
        ),
        (
            "detectors.<name>.options.<name>", "as the detector says", "",
            "TIDEGATE_DETECTORS__<NAME>__OPTIONS__<NAME>",
        ),
        (
            "audit.mode", "`pre_release` or `pre_upstream`", "`pre_release`",
            "TIDEGATE_AUDIT__MODE",
        ),
    ],
)  # fmt: skip
def test_keys_have_type_default_and_variable(
    key: str, sort: str, default: str, variable: str
) -> None:
    assert SETTINGS[key] == Setting(key, sort, default, variable, SETTINGS[key].description)


def test_the_reference_is_a_table_for_each_section() -> None:
    text = render()

    assert text.startswith("### listeners\n")
    assert text.count("| Key | Type | Default | Meaning |") == 11


def test_only_the_part_between_the_marks_is_replaced() -> None:
    page = spliced(f"before\n{BEGIN}\nOLD-TABLE\n{END}\nafter\n")

    assert page.startswith(f"before\n{BEGIN}\n\n### listeners")
    assert page.endswith(f"{END}\nafter\n")
    assert "OLD-TABLE" not in page


@pytest.mark.parametrize("page", ["", BEGIN, END])
def test_a_page_without_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        spliced(page)
