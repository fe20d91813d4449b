"""Filling a fresh site with invented people, over HTTP.

Only somebody who is alone here may: the first account of a site, before anybody else has joined. From then on the
offer is gone for everybody, so it needs no role, and cannot be used against people. The setting `demo_offered` turns
it off altogether.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Controller, Request, get, post

from tintype.api.given import House, Viewer
from tintype.base.board import Board, Notice, WorkState
from tintype.base.errors import Conflict
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

BOARD = "demo"


@dataclass(frozen=True)
class DemoStarter:
    """How the invented people are called, and what lets them move in. This layer knows neither."""

    usernames: frozenset[str]
    start: Callable[[AccountId], Awaitable[None]]
    """Begins the work in a process of its own, on behalf of a newcomer."""


class DemoNotOffered(Conflict):
    """Invented people move in only where nobody but you has joined yet."""

    code = "demo_not_offered"


class DemoView(msgspec.Struct, frozen=True):
    """Whether the offer stands, and how far the work is."""

    is_offered: bool
    state: WorkState
    stage: str
    done: int
    total: int


class DemoApi(Controller):
    """A first look around."""

    path = "/api/v1/demo"
    tags = ("Site",)

    @get("/", summary="May I fill this site with invented people")
    async def find(self, request: Request[Any, Any, Any], viewer: Viewer, rooms: House) -> DemoView:
        """Offered to the only account of a fresh site; while it runs, how far it is."""
        notice = await _board(rooms).read()
        is_offered = notice.state in {"none", "failed"} and await _is_offered(request, rooms, viewer.id)
        return _show(notice, is_offered=is_offered)

    @post("/", summary="Fill this site with invented people", status_code=202)
    async def begin(self, request: Request[Any, Any, Any], viewer: Viewer, rooms: House) -> DemoView:
        """They join, post, comment and tell stories in the background; you follow some of them. Safe to repeat."""
        board = _board(rooms)
        if not await _is_offered(request, rooms, viewer.id):
            raise DemoNotOffered
        if (await board.read()).state == "failed":
            await board.wipe()
        if await board.claim():
            await _starter(request).start(viewer.id)
        return _show(await board.read(), is_offered=False)


def _starter(request: Request[Any, Any, Any]) -> DemoStarter:
    starter: DemoStarter | None = request.app.state.demo
    if starter is None:
        raise DemoNotOffered
    return starter


async def _is_offered(request: Request[Any, Any, Any], rooms: Rooms, viewer_id: AccountId) -> bool:
    starter: DemoStarter | None = request.app.state.demo
    if starter is None or not rooms.settings.demo_offered:
        return False
    return not await rooms.accounts.are_others(viewer_id, besides=starter.usernames)


def _board(rooms: Rooms) -> Board:
    return Board(rooms.redis, rooms.settings.namespace, BOARD)


def _show(notice: Notice, *, is_offered: bool) -> DemoView:
    return DemoView(is_offered, notice.state, notice.stage, notice.done, notice.total)
