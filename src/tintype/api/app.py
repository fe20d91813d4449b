"""Assembles the ASGI application. Any ASGI server can run it: granian here, uvicorn as well."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from litestar import Litestar, Request
from litestar.di import Provide
from litestar.types import HTTPScope, LifeSpanReceive, LifeSpanScope, LifeSpanSend, Receive, Scope, Send

from tintype.accounts import Account, Caller, Pass
from tintype.api.demo import DemoStarter
from tintype.api.docs import docs_page
from tintype.api.given import House, SessionReader
from tintype.api.heads import as_get, is_plain_head, without_body
from tintype.api.health import healthz, metrics, readyz
from tintype.api.openapi import complete, openapi_config
from tintype.api.problems import HANDLERS
from tintype.api.routes import CONTROLLERS
from tintype.api.serving import media_file
from tintype.api.session import Sessions, check_credentials, send_fresh_cookies
from tintype.api.splicing import Splicer
from tintype.api.static import WebApp
from tintype.api.swift import PATH, SwiftFeed
from tintype.base.settings import Settings
from tintype.wiring import Rooms, open_rooms

OpenRooms = Callable[[], AbstractAsyncContextManager[Rooms]]
LARGEST_BODY_BYTES = 1024 * 1024


def create_app(
    settings: Settings, *, open_with: OpenRooms | None = None, demo: DemoStarter | None = None
) -> Litestar:
    """The application; rooms are opened when the server starts and closed when it stops."""
    opener = open_with or (lambda: open_rooms(settings, process="web"))
    web_app = WebApp(settings.web_dist)

    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncGenerator[None]:
        async with opener() as rooms:
            app.state.rooms = rooms
            app.state.sessions = Sessions(rooms)
            app.state.pages = Splicer(rooms.media.addresses)
            app.state.swift = SwiftFeed(rooms, app.state.pages)
            app.state.demo = demo
            yield

    app = App(
        route_handlers=[
            *CONTROLLERS,
            healthz,
            readyz,
            metrics,
            docs_page,
            media_file,
            web_app.handler(),
        ],
        lifespan=[lifespan],
        dependencies={
            "rooms": Provide(provide_rooms, sync_to_thread=False),
            "sessions": Provide(provide_sessions, sync_to_thread=False),
            "viewer": Provide(provide_viewer),
            "guest": Provide(provide_guest),
            "current": Provide(provide_current),
            "proven": Provide(provide_proven),
            "caller": Provide(provide_caller, sync_to_thread=False),
        },
        before_request=check_credentials,
        before_send=[send_fresh_cookies],
        exception_handlers=HANDLERS,
        request_max_body_size=LARGEST_BODY_BYTES,
        openapi_config=openapi_config(),
        logging_config=None,
        debug=False,
    )
    complete(app)
    return app


class App(Litestar):
    """The framework's application, which sees plain reads of the feed only where `swift.py` leaves them to it.

    It answers HEAD wherever it answers GET.
    """

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        """Answer one request."""
        if scope["type"] == "http" and is_plain_head(cast("HTTPScope", scope)):
            scope, send = as_get(cast("HTTPScope", scope)), without_body(cast("Send", send))
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "GET":
            swift: SwiftFeed = self.state.swift
            if await swift.answer(cast("Scope", scope), cast("Send", send)):
                return
        await super().__call__(scope, receive, send)


def provide_rooms(request: Request[Any, Any, Any]) -> Rooms:
    """The rooms that were opened at start."""
    return request.app.state.rooms


def provide_sessions(request: Request[Any, Any, Any], rooms: House) -> Sessions:  # noqa: ARG001 - see below
    """The reader of credentials.

    It asks for the rooms, so that what routes ask for is one chain: of several at once the framework makes tasks, which
    cost every request 50 µs.
    """
    return request.app.state.sessions


async def provide_viewer(request: Request[Any, Any, Any], sessions: SessionReader) -> Account:
    """Who is asking; the route refuses when nobody is."""
    return await sessions.viewer(request)


async def provide_guest(request: Request[Any, Any, Any], sessions: SessionReader) -> Account | None:
    """Who is asking, or None for somebody who has not signed in, where such people may read at all."""
    is_open = cast("Rooms", request.app.state.rooms).settings.guests_may_read
    return await sessions.viewer(request) if sessions.token(request) or not is_open else None


async def provide_current(request: Request[Any, Any, Any], sessions: SessionReader) -> Pass:
    """The session that asks."""
    return (await sessions.recognise(request))[0]


async def provide_proven(request: Request[Any, Any, Any], sessions: SessionReader) -> Pass:
    """The session that asks, whose holder proved who they are within the last minutes."""
    return await sessions.proven(request)


def provide_caller(request: Request[Any, Any, Any], sessions: SessionReader) -> Caller:
    """Where the request came from."""
    return sessions.caller(request)
