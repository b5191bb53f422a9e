"""The values a configuration is made of."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, TypeAdapter, ValidationError

from tidegate.proxy.config import values as v


def read(sort: Any, value: object) -> Any:
    return TypeAdapter(sort).validate_python(value)


def refused(sort: Any, value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        read(sort, value)
    return caught.value.errors()[0]["msg"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25), ("5s", 5), ("5", 5), (5, 5), (0.5, 0.5), ("1.5m", 90), ("2h", 7200),
        ("1d", 86_400), ("5 s", 5), ("5S", 5), (0, 0),
    ],
)  # fmt: skip
def test_durations_become_seconds(text: object, seconds: float) -> None:
    assert read(v.Seconds, text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", "s", "5x", "-5s", "5s5", -1, math.inf, math.nan, True, None, [], "1e3s", "\u0665s"],
)
def test_other_texts_are_no_durations(text: object) -> None:
    assert "it must be a duration" in refused(v.Seconds, text)


def test_a_duration_has_bounds() -> None:
    assert "less than or equal to 604800" in refused(v.Seconds, "8d")
    assert "greater than or equal to 0.001" in refused(v.PositiveSeconds, "0")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32MiB", 33_554_432), ("1kb", 1000), ("1.5KiB", 1536), ("10", 10), (10, 10), ("2GB", 2e9),
        ("1 GiB", 2**30), ("7b", 7), ("3mb", 3_000_000),
    ],
)  # fmt: skip
def test_sizes_become_bytes(text: object, size: int) -> None:
    assert read(v.Bytes, text) == size


@pytest.mark.parametrize("text", ["", "MiB", "5x", "-5", -5, 1.5, True, None, "32MiBB"])
def test_other_texts_are_no_sizes(text: object) -> None:
    assert "it must be a size" in refused(v.Bytes, text)


@given(st.integers(1, 2**40))
def test_every_size_survives_writing(size: int) -> None:
    assert read(v.Bytes, str(size)) == size


def test_lists_may_be_written_with_commas() -> None:
    assert read(v.Names, "a, b,") == ("a", "b")
    assert read(v.Names, ["a"]) == ("a",)


@pytest.mark.parametrize("name", ["A", "a b", "a__b", "-a", "a.", "ä", "", "a" * 65])
def test_names_are_what_a_variable_can_spell(name: str) -> None:
    assert read(v.Name, "gpu-1_b") == "gpu-1_b"
    refused(v.Name, name)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "a-b.example", "0.0.0.0"])
def test_hosts_are_names_or_addresses(host: str) -> None:
    assert read(v.Host, host) == host


@pytest.mark.parametrize("host", ["", "a b", "http://a", "a:80", "-a", "a" * 254])
def test_other_texts_are_no_hosts(host: str) -> None:
    assert "it must be a host name or an IP address" in refused(v.Host, host)


def test_loopback_is_what_only_this_machine_reaches() -> None:
    assert all(map(v.is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "localhost"]))
    assert not any(map(v.is_loopback, ["0.0.0.0", "::", "10.0.0.1", "localhost.example"]))


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://h:8000/", "http://h:8000"),
        ("https://h/base/", "https://h/base"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_addresses_lose_their_last_slash(url: str, kept: str) -> None:
    assert read(v.Url, url) == kept


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://h", "it must be an http or https address"),
        ("h:8000", "it must be an http or https address"),
        ("http://", "it must be an http or https address"),
        ("http://u:p@h", "it holds a user or password"),
        ("http://@h", "it holds a user or password"),
        ("http://h?key=1", "it holds a query or a fragment"),
        ("http://h/#x", "it holds a query or a fragment"),
        ("http://h?", "it holds a query or a fragment"),
        ("http://h:port", "its host or port cannot be read"),
        ("http://h:99999", "its host or port cannot be read"),
        ("http://[::1", "its host or port cannot be read"),
        ("http://h:0", "its host, port or path is not usable"),
        ("http://h/a b", "its host, port or path is not usable"),
        ("http://h\\x", "its host, port or path is not usable"),
        ("http://hä", "its host, port or path is not usable"),
    ],
)
def test_unusable_addresses_say_why(url: str, why: str) -> None:
    assert refused(v.Url, url).startswith(why)


@pytest.mark.parametrize("sort", [v.Url, v.UrlPath, v.Host, v.Name, v.ModelName, v.KeyHash])
def test_numbers_are_no_texts(sort: Any) -> None:
    assert "valid string" in refused(sort, 5)


def test_paths_begin_with_a_slash() -> None:
    assert read(v.UrlPaths, "/a, /b") == ("/a", "/b")
    assert "it must be a path" in refused(v.UrlPath, "a")
    assert "it must be a path" in refused(v.UrlPath, "/a b")


def test_model_names_keep_what_engines_use() -> None:
    assert read(v.ModelGlobs, "Qwen/Qwen2.5:7b, gpt-*") == ("Qwen/Qwen2.5:7b", "gpt-*")
    assert "printable" in refused(v.ModelName, " a")
    assert "printable" in refused(v.ModelName, "a\n")


@pytest.mark.parametrize("text", ["", " a", "a\nb", "ä", "a" * 4097])
def test_secrets_must_fit_a_header(text: str) -> None:
    assert read(v.Secret, "abc") == SecretStr("abc")
    assert "to be sent as a header" in refused(v.Secret, text)


def test_header_names_are_tokens() -> None:
    assert read(v.HeaderName, "X-Api-Key") == "X-Api-Key"
    assert "not the name of a header" in refused(v.HeaderName, "a b")
    assert "valid string" in refused(v.HeaderName, 5)


def test_a_key_itself_is_no_hash() -> None:
    good = f"sha256$abcd1234${'0' * 32}${'0' * 64}"

    assert read(v.KeyHash, good) == good
    assert "never the key itself" in refused(v.KeyHash, "tg_abcd1234_xxx")


def test_a_frozen_map_is_a_copy_that_cannot_be_changed() -> None:
    given = {"a": 1}
    frozen = read(Annotated[Mapping[str, int], v.Frozen], given)
    given["a"] = 2

    assert frozen == {"a": 1}
    assert not hasattr(frozen, "__setitem__")
