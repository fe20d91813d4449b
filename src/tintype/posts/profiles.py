"""The first page somebody sees of somebody: the account, how the viewer stands to it, and a grid of posts.

Everything lies on the shard of the one who is looked at, so a profile reads one shard however many there are: the
viewer's relation is mirrored there, likes lie with the posts they are of.
"""

import asyncpg
import msgspec

from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, PostId
from tintype.graph import ONESELF, STRANGER, Seen, may_know
from tintype.posts.models import MOST_PINNED, Page, Post
from tintype.posts.names import Names
from tintype.posts.room import QUERIES, AtDesk, Desk
from tintype.posts.service import Posts

GRID = 12
START = 2**63 - 1


class Profile(msgspec.Struct, frozen=True):
    """A profile as one viewer sees it. The grid is empty where the viewer may not see posts."""

    seen: Seen
    grid: Page[Post]


class Profiles(AtDesk):
    """Profiles by name, and the posts on them."""

    def __init__(self, desk: Desk, posts: Posts) -> None:
        super().__init__(desk)
        self._posts = posts
        self._names = Names(desk.accounts, desk.cache)

    async def get(self, username: str, *, viewer: AccountId | None) -> Profile:
        """The profile of a name, or the refusal that a name nobody has gets."""
        name = username.strip().lower()
        account = (await self._names.find([name])).get(name)
        if account is None:
            raise AccountNotFound
        if viewer == account.id:
            relation = ONESELF
        elif viewer is None:
            relation = STRANGER
        else:
            relation = await self._desk.graph.relation_at(account.id, viewer)
        if not may_know(account, relation):
            raise AccountNotFound
        seen = Seen(account, relation)
        return Profile(seen, await self._grid(seen, viewer, before=START, limit=GRID))

    async def page(
        self, account_id: AccountId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Post]:
        """An account's posts in the order of its profile: what is pinned, then the rest, newest first."""
        return await self._grid(await self._sight.get(viewer, account_id), viewer, before=before, limit=limit)

    async def _grid(self, seen: Seen, viewer: AccountId | None, *, before: int, limit: int) -> Page[Post]:
        if not seen.shows_content:
            return Page([], None)
        rows = await self._shards.owner(seen.account.id).fetch(
            QUERIES.page_of_profile,
            author_id=seen.account.id,
            viewer_id=viewer or 0,
            is_first=before == START,
            before=before,
            limit=max(limit, MOST_PINNED) + 1,
        )
        size = max(limit, sum(row["is_pinned"] for row in rows))  # what is pinned stays together
        liked = {PostId(row["id"]): row["is_liked"] for row in rows[:size]}
        posts = await self._posts.find_of_seen(seen, viewer, liked)
        shown = [posts[each] for each in liked if each in posts]
        return Page(shown, _next(rows, size))


def _next(rows: list[asyncpg.Record], size: int) -> int | None:
    """Where the page after this one begins; after nothing but pinned posts, at the newest of the others."""
    if len(rows) <= size:
        return None
    return START - 1 if rows[size - 1]["is_pinned"] else rows[size - 1]["id"]
