"""The ASGI application for tests: built once and used again, since building its routes takes a quarter of a second."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from httpx import ASGITransport, AsyncClient
from litestar import Litestar

from tintype.api import RequestLog, create_app
from tintype.base.settings import Settings
from tintype.demo import DemoOffer, StartDemo
from tintype.wiring import Rooms


class ReusableApp:
    """An application that runs again on other rooms; its routes depend on the folder of the web app alone."""

    idle: "dict[Path, list[ReusableApp]]" = {}  # noqa: RUF012 - one pool for the whole test process

    def __init__(self, settings: Settings) -> None:
        self._rooms: Rooms | None = None
        self.app: Litestar = create_app(settings, open_with=self._lend_rooms)

    @asynccontextmanager
    async def _lend_rooms(self) -> AsyncGenerator[Rooms]:
        assert self._rooms is not None
        yield self._rooms

    @asynccontextmanager
    async def run(self, rooms: Rooms, start_demo: StartDemo | None) -> AsyncGenerator[Litestar]:
        """Start the application on these rooms, which somebody else closes."""
        self._rooms = rooms
        is_up, is_done = asyncio.Event(), asyncio.Event()

        async def live() -> None:  # the framework insists that one task opens and closes
            async with self.app.lifespan():
                self.app.state.demo_offer = DemoOffer(rooms, start_demo)
                is_up.set()
                await is_done.wait()

        life = asyncio.create_task(live())
        await is_up.wait()
        try:
            yield self.app
        finally:
            is_done.set()
            await life


@asynccontextmanager
async def serve(
    rooms: Rooms, settings: Settings | None = None, *, start_demo: StartDemo | None = None
) -> AsyncGenerator[AsyncClient]:
    """A client of the application, which runs in this very event loop on rooms that somebody else closes."""
    settings = settings or rooms.settings
    idle = ReusableApp.idle.setdefault(settings.web_dist, [])
    reusable = idle.pop() if idle else ReusableApp(settings)
    async with reusable.run(rooms, start_demo) as app:
        transport = ASGITransport(app=RequestLog(app))
        async with AsyncClient(transport=transport, base_url="http://testserver.local") as client:
            yield client
    idle.append(reusable)
