"""Everything that can go wrong with a request, by whose fault it is.

A closed family: `server.py` turns each into the client's dialect, and nothing else into one.
Messages are public: they never hold text of a prompt or an answer.  `retry` says whether the
same request may succeed later (the SDKs' `x-should-retry`).
"""

from typing import Any

MOST_PARAM = 256
"""Characters of the place in a body that an error names: a caller's own names may be long."""


class ProxyError(Exception):
    """Base of the family: an HTTP status, a stable code, and a public message."""

    status = 500
    kind = "server_error"
    outcome = "internal"
    retry = False
    headers: tuple[tuple[str, str], ...] = ()

    def __init__(
        self, code: str, message: str, *, param: str | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param[:MOST_PARAM] if param is not None else None
        self.details: dict[str, Any] = {}
        """Members that go beside the standard ones in the client's error object."""
        if status is not None:
            self.status = status


class BadRequest(ProxyError):
    """The client's mistake: 400, 404, 405, 408, 413, 415."""

    status = 400
    kind = "invalid_request_error"
    outcome = "bad_request"


class Unauthorized(ProxyError):
    """No valid key."""

    status = 401
    kind = "authentication_error"
    outcome = "unauthorized"
    headers = (("WWW-Authenticate", "Bearer"),)


class Forbidden(ProxyError):
    """A valid key that may not do this."""

    status = 403
    kind = "permission_error"
    outcome = "forbidden"


class Refused(ProxyError):
    """A policy said no.  400, because every SDK takes it as final."""

    status = 400
    kind = "invalid_request_error"
    outcome = "refused"


class NoEngine(ProxyError):
    """No engine of the pool can take the request now."""

    status = 503
    outcome = "no_engine"
    retry = True
    headers = (("Retry-After", "5"),)


class EngineFailed(ProxyError):
    """An engine broke off, stalled or answered nonsense."""

    status = 502
    outcome = "engine_failed"
    retry = True


class AuditFailed(ProxyError):
    """The audit log cannot be written, so nothing may pass."""

    status = 503
    outcome = "audit_failed"
    retry = True
    headers = (("Retry-After", "5"),)
