"""The status of a page of the app, and what its head tells crawlers.

Whoever sends credentials gets the plain page, which is the same for everybody and needs no read: the app shows them
what they may see. A guest's page says what everybody may see, and answers 404 for all else. Pages for moderators do not
exist for anybody else.
"""

import re
from typing import Any

from litestar import Request, Response

from tintype.api.http.authentication import SESSION_COOKIE, bearer_token
from tintype.api.http.static_files import PageHead
from tintype.api.pages.app_routes import find_link, is_app_route, is_for_moderators, points_somewhere
from tintype.api.pages.embed import embed_page
from tintype.api.pages.head import render_head, render_home_head
from tintype.api.pages.localhost import redirect_to_localhost
from tintype.base.settings import site_url
from tintype.previews import PreviewGone, PreviewNotFound
from tintype.wiring import Rooms

EMBED = re.compile(r"/p/([0-9A-Za-z]+)/embed")
NO_INDEX = {"X-Robots-Tag": "noindex"}
PLAIN = PageHead()
MISSING, GONE = PageHead(status=404, headers=NO_INDEX), PageHead(status=410, headers=NO_INDEX)


class PageHeads:
    """Says what the page at a path answers with."""

    async def find(self, request: Request[Any, Any, Any], path: str) -> PageHead | Response[str]:
        """The status and head of the page at a decoded path; of an embed, the page itself."""
        rooms: Rooms = request.app.state.rooms
        if embed := EMBED.fullmatch(path):
            return await embed_page(request, rooms, embed[1])
        if not is_app_route(path):
            return MISSING
        if is_for_moderators(path):
            return PLAIN if await _is_moderator(request, rooms) else MISSING
        is_guest = not (request.cookies.get(SESSION_COOKIE) or request.headers.get("authorization"))
        redirect = redirect_to_localhost(request, rooms.settings) if is_guest else None
        if redirect is not None:
            return redirect
        if not (is_guest and rooms.settings.guests_may_read):
            return PLAIN
        return await self._find_for_guest(rooms, path)

    async def _find_for_guest(self, rooms: Rooms, path: str) -> PageHead:
        headers = NO_INDEX if rooms.settings.search_engines == "none" else {}
        site = site_url(rooms.settings)
        if not points_somewhere(path):
            return PageHead(render_home_head(site) if path == "/" else "", headers=headers)
        link = find_link(path)
        if link is None:
            return MISSING
        try:
            return PageHead(render_head(await rooms.previews.get(link), site), headers=headers)
        except PreviewGone:
            return GONE
        except PreviewNotFound:
            return MISSING


async def _is_moderator(request: Request[Any, Any, Any], rooms: Rooms) -> bool:
    token = bearer_token(request) or request.cookies.get(SESSION_COOKIE, "")
    found = await rooms.authentication.authenticate(token) if token else None
    return found is not None and found[1].is_moderator
