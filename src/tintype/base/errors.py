"""The six kinds of errors that callers are told about.

An error is a class: its docstring is what people read, `code` is a promise to programs, `facts` go to the log and
never to the caller. Rooms subclass these kinds; the HTTP status is chosen in `tintype.api` alone.
"""

import inspect
from typing import Any, ClassVar


class TintypeError(Exception):
    """That was refused."""

    code: ClassVar[str] = "refused"

    def __init__(self, detail: str | None = None, **facts: Any) -> None:
        self.detail = detail or inspect.getdoc(type(self)) or "Refused."
        self.facts = facts
        super().__init__(self.detail)


class NotFound(TintypeError):
    """That does not exist, or you may not see it."""

    code = "not_found"


class Forbidden(TintypeError):
    """You may not do that."""

    code = "forbidden"


class Conflict(TintypeError):
    """That conflicts with the current state; reload and try again."""

    code = "conflict"


class Invalid(TintypeError):
    """That is not valid."""

    code = "invalid"


class CursorInvalid(Invalid):
    """That cursor is not valid; start again without one."""

    code = "cursor_invalid"


class Unavailable(TintypeError):
    """Part of the system is not responding right now; try again in a moment."""

    code = "unavailable"


class RateLimited(TintypeError):
    """Too many attempts; wait a little and try again."""

    code = "rate_limited"

    def __init__(
        self, detail: str | None = None, *, retry_after_s: int, policy: str = "", **facts: Any
    ) -> None:
        super().__init__(detail, **facts)
        self.retry_after_s = retry_after_s
        self.policy = policy
        """The limit that was reached, as in the header RateLimit-Policy; empty if it is none of the table."""


class SettingsInvalid(Invalid):
    """A setting is not valid."""

    code = "settings_invalid"


class NotSignedIn(Forbidden):
    """Sign in first."""

    code = "not_signed_in"
