"""Assembles the ASGI application. Any ASGI server can run it: granian here, uvicorn as well."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from litestar import Litestar, Request
from litestar.types import HTTPScope, LifeSpanReceive, LifeSpanScope, LifeSpanSend, Receive, Scope, Send

from tintype.api.feed_fast_path import PATH, FeedFastPath, FeedPageRenderer
from tintype.api.http.allowed_methods import complete_allow
from tintype.api.http.authentication import Authenticator, add_renewed_cookies, check_credentials
from tintype.api.http.docs_page import docs_page
from tintype.api.http.head_requests import as_get, is_plain_head, without_body
from tintype.api.http.json_bodies import JsonRequest
from tintype.api.http.mqtt_proxy import MqttProxy
from tintype.api.http.numbers import check_query
from tintype.api.http.openapi import complete_openapi, openapi_config
from tintype.api.http.problems import HANDLERS
from tintype.api.http.providers import PROVIDERS
from tintype.api.http.read_sessions import ReadSessions
from tintype.api.http.request_limits import RequestLimits
from tintype.api.http.static_files import WebApp
from tintype.api.lean_routes import LeanRoutes
from tintype.api.pages import PageHeads
from tintype.api.routes import ROUTES
from tintype.api.views.grid_fragments import GridFragments
from tintype.base.settings import Settings
from tintype.demo import DemoOffer, StartDemo
from tintype.redis.client_cache import forbid_reads
from tintype.redis.request_budgets import RequestBudgets
from tintype.wiring import Rooms, open_rooms

OpenRooms = Callable[[], AbstractAsyncContextManager[Rooms]]
MAX_BODY_BYTES = 1024 * 1024


def create_app(
    settings: Settings, *, open_with: OpenRooms | None = None, start_demo: StartDemo | None = None
) -> Litestar:
    """The application. Its rooms are opened when the server starts and closed when it stops.

    `start_demo` starts the job that fills the site with the demo community; without it the demo is never offered.
    """
    opener = open_with or (lambda: open_rooms(settings, process="web"))

    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncGenerator[None]:
        async with opener() as rooms:
            app.state.rooms = rooms
            budgets = RequestBudgets(rooms.redis, rooms.settings.namespace)
            limits = RequestLimits(budgets, rooms.settings)
            app.state.authenticator = Authenticator(rooms, limits)
            app.state.feed_pages = FeedPageRenderer(rooms.media.urls)
            app.state.feed_fast_path = FeedFastPath(rooms, app.state.feed_pages, limits)
            app.state.grid_fragments = GridFragments()
            app.state.lean_routes = LeanRoutes(app, rooms, app.state.authenticator, limits)
            app.state.read_sessions = (
                ReadSessions(is_secure=settings.public_url.startswith("https:"))
                if rooms.settings.postgres_replicas
                else None
            )
            app.state.mqtt_proxy = MqttProxy(
                rooms.settings.mqtt_upstream if rooms.settings.has_realtime else "", rooms.settings.public_url
            )
            app.state.demo_offer = DemoOffer(rooms, start_demo)
            async with budgets.sharing():
                yield

    app = App(
        route_handlers=[*ROUTES, docs_page, WebApp(settings.web_dist, PageHeads().find).handler()],
        lifespan=[lifespan],
        dependencies=PROVIDERS,
        before_request=check_request,
        request_class=JsonRequest,
        before_send=[add_renewed_cookies, complete_allow],
        exception_handlers=HANDLERS,
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=openapi_config(),
        logging_config=None,
        debug=False,
    )
    complete_openapi(app)
    return app


async def check_request(request: Request[Any, Any, Any]) -> None:
    """Refuse a request before its body is read: wrong credentials first, then query parameters that are not valid."""
    await check_credentials(request)
    check_query(request)


class App(Litestar):
    """The framework's application, with the feed's fast path and the lean routes before it, and HEAD like GET."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            proxy: MqttProxy = self.state.mqtt_proxy
            await proxy.answer(scope, receive, send)
            return
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        forbid_reads()
        try:
            await self._answer_in_session(
                cast("HTTPScope", scope), cast("Receive", receive), cast("Send", send)
            )
        finally:
            forbid_reads()

    async def _answer_in_session(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        sessions: ReadSessions | None = self.state.read_sessions
        if sessions is not None and scope["path"].startswith("/api/"):
            await sessions.answer(self._answer, scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})
        if is_plain_head(scope):
            scope, send = as_get(scope), without_body(send)
        if scope["path"] == PATH and scope["method"] == "GET":
            fast_path: FeedFastPath = self.state.feed_fast_path
            if await fast_path.try_answer(scope, send):
                return
        lean_routes: LeanRoutes = self.state.lean_routes
        if not await lean_routes.try_answer(scope, receive, send):
            await super().__call__(scope, receive, send)
