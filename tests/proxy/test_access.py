"""Callers and their keys."""

import hashlib
import hmac
from itertools import cycle

import pytest

from tidegate.proxy import access as module
from tidegate.proxy.access import Access, Principal, hash_key, key_id, new_key
from tidegate.proxy.config import AccessKeys
from tidegate.proxy.errors import Unauthorized

OWN = "an-operator's-own-key-0123456789"
KEY, HASH = new_key()
GUEST = Principal("anonymous", "anonymous", ("*",))


def access(**config: object) -> Access:
    return Access(AccessKeys.model_validate(config))


KEYED = access(
    keys={
        "alice": {"hash": HASH, "tenant": "acme", "routes": ["chat", "e-*"]},
        "bob": {"hash": hash_key(OWN)},
    }
)
ALICE = Principal("alice", "acme", ("chat", "e-*"), key_id(KEY))


def refusal(tested: Access, authorization: list[str], x_api_key: list[str]) -> str:
    with pytest.raises(Unauthorized) as caught:
        tested.authenticate(authorization, x_api_key, peer_is_loopback=True)
    assert caught.value.status == 401
    assert KEY not in str(caught.value)
    return caught.value.code


@pytest.mark.parametrize(
    ("authorization", "x_api_key"),
    [
        ([f"Bearer {KEY}"], []),
        ([f"bearer {KEY}"], []),
        ([f"BEARER   {KEY}"], []),
        ([], [KEY]),
        ([f"Bearer {KEY}"], [KEY]),
    ],
)
def test_a_key_tells_who_calls(authorization: list[str], x_api_key: list[str]) -> None:
    assert KEYED.authenticate(authorization, x_api_key, peer_is_loopback=False) == ALICE


def test_a_key_of_any_format_works() -> None:
    assert KEYED.authenticate((f"Bearer {OWN}",), (), peer_is_loopback=False).name == "bob"


@pytest.mark.parametrize(
    ("authorization", "x_api_key", "code"),
    [
        ([], [], "missing_api_key"),
        (["Bearer wrong"], [], "invalid_api_key"),
        ([], ["wrong"], "invalid_api_key"),
        ([], [KEY[:-1] + ("a" if KEY[-1] != "a" else "b")], "invalid_api_key"),
        ([], [f"tg_00000000_{'a' * 40}"], "invalid_api_key"),
        ([], [""], "invalid_api_key"),
        ([], ["é"], "invalid_api_key"),
        ([], [f"{KEY} "], "invalid_api_key"),
        ([], ["x" * 513], "invalid_api_key"),
        (["Bearer"], [], "invalid_api_key"),
        (["Basic dTpw"], [], "invalid_api_key"),
        ([f"Bearer {KEY} x"], [], "invalid_api_key"),
        ([KEY], [], "invalid_api_key"),
        ([f"Bearer {KEY}"], ["other"], "conflicting_api_keys"),
        ([f"Bearer {KEY}", f"Bearer {KEY}"], [], "conflicting_api_keys"),
        ([], [KEY, KEY], "conflicting_api_keys"),
    ],
)
def test_anything_else_is_refused(
    authorization: list[str], x_api_key: list[str], code: str
) -> None:
    assert refusal(KEYED, authorization, x_api_key) == code


@pytest.mark.parametrize("key", [KEY, f"{KEY[:-4]}0000", f"tg_00000000_{'a' * 40}", "x"])
def test_every_key_costs_one_comparison_in_constant_time(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    compared: list[tuple[int, int]] = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((len(a), len(b)))
        return hmac.compare_digest(a, b)

    monkeypatch.setattr(module, "hmac", type("Spy", (), {"compare_digest": staticmethod(compare)}))
    try:
        KEYED.authenticate([], [key], peer_is_loopback=True)
    except Unauthorized:
        assert key != KEY

    assert compared == [(32, 32)]


def test_callers_without_a_key_are_served_on_loopback_if_the_configuration_says_so() -> None:
    tested = access(anonymous=True, keys={"alice": {"hash": HASH}})

    assert tested.authenticate([], [], peer_is_loopback=True) == GUEST
    with pytest.raises(Unauthorized):
        tested.authenticate([], [], peer_is_loopback=False)
    assert refusal(tested, ["Bearer wrong"], []) == "invalid_api_key"


def test_callers_without_a_key_are_served_anywhere_only_by_a_word_of_its_own() -> None:
    guests = {"enabled": True, "tenant": "guests", "routes": ["chat"]}
    tested = access(anonymous=guests, anonymous_anywhere=True)

    assert tested.authenticate([], [], peer_is_loopback=False) == (
        Principal("anonymous", "guests", ("chat",))
    )


def test_any_credential_will_do_where_no_key_is_configured() -> None:
    tested = access(anonymous=True)

    assert tested.authenticate(["Bearer none"], [], peer_is_loopback=True) == GUEST
    with pytest.raises(Unauthorized):
        tested.authenticate(["Bearer none"], [], peer_is_loopback=False)


def test_a_caller_may_use_the_routes_of_its_key() -> None:
    assert [ALICE.may_use(route) for route in ("chat", "e-5", "chat2", "")] == [
        True,
        True,
        False,
        False,
    ]


def test_new_keys_have_the_documented_form_and_are_random() -> None:
    letters = cycle("abc")
    key, text = new_key(lambda _: next(letters))

    assert key == "tg_abcabcab_" + "cab" * 13 + "c"
    assert text.startswith("sha256$abcabcab$")
    assert new_key()[0] != new_key()[0]


def test_the_hash_is_sha256_over_salt_and_key() -> None:
    salt = bytes(16)

    assert hash_key(KEY, salt) == (
        f"sha256${KEY[3:11]}${salt.hex()}${hashlib.sha256(salt + KEY.encode()).hexdigest()}"
    )
    assert hash_key(KEY) != hash_key(KEY)


def test_the_id_of_a_foreign_key_is_the_start_of_its_plain_hash() -> None:
    assert key_id(OWN) == hashlib.sha256(OWN.encode()).hexdigest()[:8]


@pytest.mark.parametrize("key", ["short", "x" * 513, "with blanks in between it all", "é" * 30])
def test_keys_that_could_be_guessed_or_not_be_sent_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="20 to 512 visible ASCII") as caught:
        hash_key(key)

    assert key not in str(caught.value)


def test_no_key_is_kept() -> None:
    KEYED.authenticate([], [KEY], peer_is_loopback=True)

    assert KEY not in repr(vars(KEYED))
    assert KEY[12:] not in repr(vars(KEYED))
