"""Assembles the ASGI application. Any ASGI server can run it: granian here, uvicorn as well."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Litestar, Request
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import License

from tintype import __version__
from tintype.accounts import Account
from tintype.api.accounts import AccountsApi
from tintype.api.docs import docs_page
from tintype.api.given import SessionReader
from tintype.api.health import healthz, metrics, readyz
from tintype.api.looks import LooksApi
from tintype.api.media import MediaApi
from tintype.api.posts import PostsApi
from tintype.api.problems import HANDLERS
from tintype.api.serving import media_file
from tintype.api.session import Sessions
from tintype.api.static import WebApp
from tintype.api.tus import TusApi
from tintype.base.settings import Settings
from tintype.wiring import Rooms, open_rooms

OpenRooms = Callable[[], AbstractAsyncContextManager[Rooms]]
LARGEST_BODY_BYTES = 1024 * 1024


def create_app(settings: Settings, *, open_with: OpenRooms | None = None) -> Litestar:
    """The application; rooms are opened when the server starts and closed when it stops."""
    opener = open_with or (lambda: open_rooms(settings, process="web"))
    web_app = WebApp(settings.web_dist)

    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncGenerator[None]:
        async with opener() as rooms:
            app.state.rooms = rooms
            app.state.sessions = Sessions(rooms)
            yield

    return Litestar(
        route_handlers=[
            AccountsApi,
            MediaApi,
            TusApi,
            PostsApi,
            healthz,
            readyz,
            metrics,
            docs_page,
            LooksApi,
            media_file,
            web_app.handler(),
        ],
        lifespan=[lifespan],
        dependencies={
            "rooms": Provide(provide_rooms, sync_to_thread=False),
            "sessions": Provide(provide_sessions, sync_to_thread=False),
            "viewer": Provide(provide_viewer),
        },
        exception_handlers=HANDLERS,
        request_max_body_size=LARGEST_BODY_BYTES,
        openapi_config=_openapi(),
        logging_config=None,
        debug=False,
    )


def provide_rooms(request: Request[Any, Any, Any]) -> Rooms:
    """The rooms that were opened at start."""
    return request.app.state.rooms


def provide_sessions(request: Request[Any, Any, Any]) -> Sessions:
    """The reader of credentials."""
    return request.app.state.sessions


async def provide_viewer(request: Request[Any, Any, Any], sessions: SessionReader) -> Account:
    """Who is asking; the route refuses when nobody is."""
    return await sessions.viewer(request)


def _openapi() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Tintype",
        version=__version__,
        description="Photo sharing anyone can host. Ids are strings; errors are problem+json with a stable `code`.",
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path="/api",
        render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        use_handler_docstrings=True,
    )
