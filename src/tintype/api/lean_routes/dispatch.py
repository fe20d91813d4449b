"""Answers plain requests to lean routes; everything unusual is left to the framework, before its body is read."""

import hmac
import re
from collections import defaultdict
from typing import Any, cast

import msgspec
from litestar import Litestar, Response
from litestar.types import HTTPScope, Receive, Send

from tintype.accounts import Account, needs_renewal
from tintype.api.http.authentication import CSRF_HEADER, Authenticator, CsrfTokenWrong
from tintype.api.http.cross_site import JSON
from tintype.api.http.json_bodies import BodyIncomplete, JsonRequest, decode_body
from tintype.api.http.plain_credentials import plain_token
from tintype.api.http.problems import HANDLERS
from tintype.api.http.request_limits import ADDRESS_COUNTED, RequestLimits
from tintype.api.http.request_secrets import BODY as KEPT_BODY
from tintype.api.lean_routes.plan import RoutePlan, plans_of
from tintype.wiring import Rooms

MAX_BODY_BYTES = 64 * 1024
PLAIN_HOST = re.compile(rb"[0-9A-Za-z.:\[\]_-]+")
NO_BODY_STATUSES = frozenset({204, 304})
Headers = dict[bytes, bytes]
Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers and body."""


class LeanRoutes:
    """Calls the functions of lean routes; one per process."""

    def __init__(
        self, app: Litestar, rooms: Rooms, authenticator: Authenticator, limits: RequestLimits
    ) -> None:
        self._app, self._rooms = app, rooms
        self._authenticator, self._limits = authenticator, limits
        self._client_cache = rooms.cache.redis_client.client_cache
        self._plans: defaultdict[tuple[str, int], list[RoutePlan]] = defaultdict(list)
        for plan in plans_of(app):
            self._plans[plan.method, len(plan.segments)].append(plan)

    async def try_answer(self, scope: HTTPScope, receive: Receive, send: Send) -> bool:
        """Answer the request if it is plain; False if it is not, and nothing was sent or read."""
        found = self._find(scope)
        if found is None:
            return False
        plan, arguments = found
        headers: Headers = dict(scope["headers"])
        token = self._plain_token(plan, scope, headers)
        if not token:
            return False
        scope["path_template"] = plan.template
        try:
            answer = await self._answer(plan, arguments, headers, token, scope, receive, send)
        except Exception as error:  # noqa: BLE001 - answered as the framework does
            await _refuse(scope, receive, send, error)
            return True
        if answer is None:
            return False
        status, sent, body = answer
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body, "more_body": False})
        return True

    def _find(self, scope: HTTPScope) -> tuple[RoutePlan, dict[str, Any]] | None:
        segments = scope["path"].split("/")
        for plan in self._plans.get((scope["method"], len(segments)), ()):
            arguments = plan.match(segments)
            if arguments is not None:
                return plan, arguments
        return None

    def _plain_token(self, plan: RoutePlan, scope: HTTPScope, headers: Headers) -> str:
        """The token of a request about which nothing is unusual; empty for any other."""
        is_plain = (
            len(headers) == len(list(scope["headers"]))
            and not scope["query_string"]
            and not scope.get("root_path")
            and PLAIN_HOST.fullmatch(headers.get(b"host", b"-"))
            and self._client_cache.is_tracking
            and all(len(headers.get(each.header, b"")) <= each.max_length for each in plan.headers)
            and (not plan.takes_body or _has_plain_body(headers))
        )
        return (
            plain_token(headers.get(b"authorization", b""), headers.get(b"cookie", b"")) if is_plain else ""
        )

    async def _answer(  # noqa: PLR0917 - the parts of one request
        self,
        plan: RoutePlan,
        arguments: dict[str, Any],
        headers: Headers,
        token: str,
        scope: HTTPScope,
        receive: Receive,
        send: Send,
    ) -> Answer | None:
        """The answer; None where the framework has to find out what is wrong."""
        self._limits.check_address(scope)
        scope["state"][ADDRESS_COUNTED] = True
        is_cookie = b"authorization" not in headers
        if is_cookie:
            self._check_cookie(JsonRequest(scope, receive, send), headers, token)
        viewer = await self._authenticate(plan, token, is_cookie=is_cookie)
        if viewer is None:
            return None
        self._client_cache.allow_reads()
        self._limits.check_account(scope, viewer.id)
        arguments |= {plan.viewer: viewer, "rooms": self._rooms}
        for each in plan.headers:
            value = headers.get(each.header)
            arguments[each.name] = None if value is None else value.decode("latin-1")
        if plan.takes_body:
            arguments["data"] = decode_body(plan.handler, await _read_body(scope, receive))
        if plan.takes_request:
            scope["litestar_app"] = self._app
            arguments["request"] = JsonRequest(scope, receive, send)
        return _answer_of(plan, await plan.handler.fn(**arguments))

    def _check_cookie(self, request: JsonRequest, headers: Headers, token: str) -> None:
        """What protects a browser's session: its site, and for a change its CSRF token."""
        self._authenticator.check_site(request)
        if request.method != "GET":
            sent = headers.get(CSRF_HEADER.encode(), b"")
            if not hmac.compare_digest(sent, self._authenticator.csrf_token(token).encode()):
                raise CsrfTokenWrong

    async def _authenticate(self, plan: RoutePlan, token: str, *, is_cookie: bool) -> Account | None:
        """The account of the token, if it may call this route and no cookie has to be renewed."""
        found = await self._rooms.authentication.authenticate(token)
        if found is None:
            return None
        session, account = found
        may_call = account.is_active and (session.scopes is None or plan.scope in session.scopes)
        must_renew = is_cookie and plan.method == "GET" and needs_renewal(session)
        return account if may_call and not must_renew else None


def _has_plain_body(headers: Headers) -> bool:
    size = headers.get(b"content-length", b"")
    return (
        headers.get(b"content-type", b"").partition(b";")[0].strip().lower() == JSON.encode()
        and size.isdigit()
        and len(size) < 7  # noqa: PLR2004 - digits
        and 0 < int(size) <= MAX_BODY_BYTES
        and b"transfer-encoding" not in headers
    )


async def _read_body(scope: HTTPScope, receive: Receive) -> bytes:
    body, has_more = b"", True
    while has_more:
        message = await receive()
        if message["type"] != "http.request":
            raise BodyIncomplete
        body, has_more = body + message.get("body", b""), message.get("more_body", False)
    scope[KEPT_BODY] = body  # pyright: ignore[reportGeneralTypeIssues] - a key of our own
    return body


def _answer_of(plan: RoutePlan, result: Any) -> Answer:
    """What the framework would send for what a route's function returns."""
    status, headers, body = plan.handler.status_code, list[tuple[bytes, bytes]](), b""
    if isinstance(result, Response):
        status = result.status_code or status
        headers += [(name.lower().encode(), str(value).encode()) for name, value in result.headers.items()]
        result = cast("Response[Any]", result).content
    if status in NO_BODY_STATUSES:
        return status, headers, b""
    body = result if isinstance(result, bytes) else msgspec.json.encode(result)
    headers += [(b"content-type", JSON.encode()), (b"content-length", b"%d" % len(body))]
    return status, headers, body


async def _refuse(scope: HTTPScope, receive: Receive, send: Send, error: Exception) -> None:
    """Answer an error as the framework does."""
    handle = next(HANDLERS[each] for each in type(error).__mro__ if each in HANDLERS)
    request = JsonRequest(scope, receive, send)
    response = handle(request, error).to_asgi_response(app=None, request=request)
    await response(scope, receive, send)
