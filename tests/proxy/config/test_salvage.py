"""What can still be read of a mistaken configuration."""

from tidegate.proxy.config.salvage import readable


def test_valid_items_and_sections_are_kept() -> None:
    config = readable(
        {
            "engines": {"a": {"url": "http://a"}, "b": {"url": 5}},
            "pools": 5,
            "limits": {"body": 5},
            "audit": {"mode": "never"},
        }
    )

    assert list(config.engines) == ["a"]
    assert config.limits.body == 5
    assert config.audit.mode == "pre_release"


def test_what_is_missing_or_unreadable_is_empty_or_the_default() -> None:
    config = readable({"routes": {"r": None}})

    assert (config.engines, config.routes) == ({}, {})
    assert config.policies["default"].pack == "default"
