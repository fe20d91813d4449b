"""Error responses: the one place that maps errors to HTTP statuses. problem+json with a stable code (RFC 9457)."""

from collections.abc import Callable
from typing import Any, cast

import asyncpg
import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from redis.exceptions import ConnectionError as RedisUnavailable
from redis.exceptions import TimeoutError as RedisTimeout

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.routing import DeadlineExceeded, OutcomeUnknown, PartialResult
from tintype.api.http.allowed_methods import allow_header
from tintype.api.http.cross_site import JsonRequired
from tintype.api.http.request_bodies import BodyTimeout
from tintype.base.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    NotSignedIn,
    RateLimited,
    TintypeError,
    Unavailable,
)
from tintype.base.log import current_request_id, get_log
from tintype.base.tracebacks import describe_error
from tintype.media import ChecksumWrong, MediaTooLarge, StorageFull

log = get_log("http")

STATUSES: tuple[tuple[type[TintypeError], int], ...] = (
    (MediaTooLarge, 413),
    (StorageFull, 413),
    (JsonRequired, 415),
    (BodyTimeout, 408),
    (ChecksumWrong, 460),  # defined by the tus protocol
    (NotSignedIn, 401),
    (NotFound, 404),
    (Forbidden, 403),
    (Conflict, 409),
    (Invalid, 400),
    (RateLimited, 429),
    (Unavailable, 503),
)
CODES = {
    400: "invalid",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
}
TITLES = {
    400: "Invalid request", 401: "Not signed in", 403: "Forbidden", 404: "Not found", 405: "Method not allowed",
    408: "Timeout", 409: "Conflict", 413: "Too large", 415: "Unsupported type", 429: "Too many requests",
    500: "Internal error", 503: "Unavailable",
}  # fmt: skip


class Problem(msgspec.Struct, frozen=True):
    """The body of every error response."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    retry_after_s: int | msgspec.UnsetType = msgspec.UNSET
    """In how many seconds to try again, as the header Retry-After says."""


def problem(status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> Response[Problem]:
    """An error response."""
    retry_after = (headers or {}).get("Retry-After")
    body = Problem(
        "about:blank",
        TITLES.get(status, "Error"),
        status,
        code,
        detail,
        current_request_id(),
        int(retry_after) if retry_after else msgspec.UNSET,
    )
    return Response(body, status_code=status, headers=headers, media_type="application/problem+json")


def on_error(_request: Request[Any, Any, Any], error: TintypeError) -> Response[Problem]:
    """An error that a room raised."""
    status = next(status for kind, status in (*STATUSES, (TintypeError, 400)) if isinstance(error, kind))
    headers = _refusal_headers(error) if isinstance(error, RateLimited) else None
    log.info("request.refused", code=error.code, status=status, **error.facts)
    return problem(status, error.code, error.detail, headers)


def _refusal_headers(error: RateLimited) -> dict[str, str]:
    """When to try again, and which limit was reached (draft-ietf-httpapi-ratelimit-headers)."""
    headers = {"Retry-After": str(error.retry_after_s)}
    if error.policy:
        name = error.policy.partition(";")[0]
        headers |= {"RateLimit-Policy": error.policy, "RateLimit": f"{name};r=0;t={error.retry_after_s}"}
    return headers


def on_http_error(_request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """An error of the framework: unknown route, invalid body, wrong method."""
    status = error.status_code
    detail = error.detail
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        detail = "; ".join(_explain(item) for item in error.extra) or detail
    if status >= 500:  # noqa: PLR2004 - the class of server errors
        detail = "Something went wrong on our side."
    headers = allow_header(dict(error.headers or {}))
    return problem(status, CODES.get(status, "refused" if status < 500 else "internal"), detail, headers)  # noqa: PLR2004 - server errors begin at 500


def on_unavailable(_request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """PostgreSQL or Redis does not answer: 503, to be retried."""
    log.warning("request.failed", error=describe_error(error))
    return problem(503, Unavailable.code, Unavailable().detail, {"Retry-After": "1"})


def on_invalid_text(_request: Request[Any, Any, Any], _error: Exception) -> Response[Problem]:
    """Text that PostgreSQL cannot store, such as NUL, or a body that is not UTF-8."""
    return problem(400, "text_invalid", "The text contains a character that cannot be stored, such as NUL.")


def on_bug(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """An unexpected exception: the details go to the log, never to the client."""
    log.error("request.crashed", path=request.scope["path"], error=describe_error(error), exc_info=error)
    return internal_problem()


def internal_problem() -> Response[Problem]:
    """The answer to an unexpected exception."""
    return problem(500, "internal", "Something went wrong on our side. The request id helps us find it.")


def _explain(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    about = cast("dict[str, Any]", item)
    return f"{about['key']}: {about['message']}" if about.get("key") else str(about.get("message", about))


ENGINE_FAILURES = (
    *(ServerUnavailable, NotOwner, PartialResult, DeadlineExceeded, OutcomeUnknown),
    # Inside a transaction these come from the driver: the connection broke, or the server is shutting down or starting.
    *(asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.OperatorInterventionError),
    *(RedisUnavailable, RedisTimeout, ConnectionError, TimeoutError),
)
HANDLERS: dict[int | type[Exception], Callable[..., Response[Problem]]] = {
    TintypeError: on_error,
    HTTPException: on_http_error,
    **dict.fromkeys(ENGINE_FAILURES, on_unavailable),
    asyncpg.CharacterNotInRepertoireError: on_invalid_text,
    asyncpg.UntranslatableCharacterError: on_invalid_text,
    UnicodeError: on_invalid_text,  # a body that is not UTF-8
    Exception: on_bug,
}


async def send_problem(scope: Any, receive: Any, send: Any, error: Exception) -> None:
    """Send the response to an error that was raised outside of the framework."""
    request: Request[Any, Any, Any] = Request(scope, receive, send)
    answer = on_error(request, error) if isinstance(error, TintypeError) else internal_problem()
    content = msgspec.json.encode(answer.content)
    headers = {
        "content-type": answer.media_type or "",
        **{name.lower(): value for name, value in answer.headers.items()},
    }
    sent = [(name.encode(), str(value).encode()) for name, value in headers.items()]
    sent.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": answer.status_code, "headers": sent})
    await send({"type": "http.response.body", "body": content, "more_body": False})
