import pytest
from tests.proxy.engines.engines import engine


@pytest.mark.parametrize(
    ("url", "base", "authority", "port"),
    [
        ("http://10.0.0.7:8000/", "", "10.0.0.7:8000", 8000),
        ("http://engine.example/", "", "engine.example", 80),
        ("https://engine.example:443/", "", "engine.example", 443),
        ("http://[::1]:8000/models/", "/models", "[::1]:8000", 8000),
    ],
)
def test_it_spells_out_what_each_request_needs_of_its_url(
    url: str, base: str, authority: str, port: int
) -> None:
    made = engine(url=url)

    assert (made.base, made.authority, made.port) == (base, authority, port)


def test_its_host_is_bare() -> None:
    assert engine(url="http://[::1]:8000/").host == "::1"


def test_its_load_counts_by_weight() -> None:
    assert engine(inflight=4, weight=2.0).load == 2.0


def test_it_is_usable_before_the_first_probe_and_not_after_a_failed_one() -> None:
    assert engine().usable(0.0)
    assert engine(probed=True).usable(0.0)
    assert not engine(probed=False).usable(0.0)


def test_it_is_full_at_its_limit_and_never_without_one() -> None:
    assert engine(max_inflight=2, inflight=2).full
    assert not engine(max_inflight=2, inflight=1).full
    assert not engine(inflight=10_000).full
    assert not engine(max_inflight=1, inflight=1).usable(0.0)


def test_failures_in_a_row_eject_it_for_its_time() -> None:
    made = engine(eject_after=2, eject_for=30.0)
    ejected = [made.failed(100.0), made.failed(100.0)]

    assert ejected == [False, True]
    assert not made.usable(129.9)
    assert made.usable(130.0)


def test_a_success_begins_the_row_anew() -> None:
    made = engine(eject_after=2)
    made.failed(0.0)
    made.succeeded()

    assert not made.failed(0.0)


def test_its_credential_is_not_in_its_description() -> None:
    made = engine(headers=(("Authorization", "Bearer credential"),))

    assert "credential" not in repr(made)
