import pytest

from tidegate.proxy import errors
from tidegate.proxy.errors import MOST_PARAM, BadRequest, ProxyError

FAMILY = [
    (errors.BadRequest, 400, "invalid_request_error", "bad_request", False),
    (errors.Unauthorized, 401, "authentication_error", "unauthorized", False),
    (errors.Forbidden, 403, "permission_error", "forbidden", False),
    (errors.Refused, 400, "invalid_request_error", "refused", False),
    (errors.NoEngine, 503, "server_error", "no_engine", True),
    (errors.EngineFailed, 502, "server_error", "engine_failed", True),
    (errors.AuditFailed, 503, "server_error", "audit_failed", True),
]


@pytest.mark.parametrize(("error", "status", "kind", "outcome", "retry"), FAMILY)
def test_each_fault_has_its_status_and_says_whether_to_retry(
    error: type[ProxyError], status: int, kind: str, outcome: str, *, retry: bool
) -> None:
    made = error("code", "message")

    assert (status, kind, outcome, retry) == (made.status, made.kind, made.outcome, made.retry)
    assert (made.code, made.message, made.param, made.details) == ("code", "message", None, {})
    assert str(made) == "message"


def test_the_family_is_closed() -> None:
    assert {error for error, *_ in FAMILY} == set(ProxyError.__subclasses__())


def test_one_error_may_have_a_status_of_its_own() -> None:
    error = errors.BadRequest("too_large", "m", param="messages", status=413)

    assert (error.status, error.param) == (413, "messages")
    assert errors.BadRequest("other", "m").status == 400


def test_details_are_of_one_error_only() -> None:
    errors.Refused("a", "m").details["x"] = 1

    assert errors.Refused("a", "m").details == {}


def test_a_missing_key_is_asked_for_in_the_standards_way() -> None:
    assert errors.Unauthorized("a", "m").headers == (("WWW-Authenticate", "Bearer"),)
    assert errors.AuditFailed("a", "m").headers == (("Retry-After", "5"),)


def test_a_long_place_is_cut() -> None:
    error = BadRequest("invalid_type", "wrong", param="x" * 30_000)

    assert error.param == "x" * MOST_PARAM
