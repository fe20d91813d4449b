"""Profiles: the account, the viewer's relation to it, and the first page of its posts.

Everything lies on the shard of the profile's account, so a profile reads one shard however many there are: the
viewer's relation is mirrored there, and likes lie with the posts they belong to.
"""

import asyncpg
import msgspec

from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, PostId
from tintype.base.pages import Page
from tintype.graph import ONESELF, STRANGER, VisibleAccount, is_account_visible
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.models import MAX_PINNED, Post
from tintype.posts.service import Posts
from tintype.posts.store import QUERIES

PAGE_SIZE = 12
NEWEST = 2**63 - 1


class Profile(msgspec.Struct, frozen=True):
    """A profile as one viewer sees it. There are no posts where the viewer may not see them."""

    account: VisibleAccount
    posts: Page[Post]


class ProfileReader:
    """Reads profiles by username, and the posts on them page by page."""

    def __init__(self, dependencies: PostsDependencies, posts: Posts) -> None:
        self._shards, self._accounts = dependencies.shards, dependencies.accounts
        self._graph, self._visibility = dependencies.graph, dependencies.visibility
        self._posts = posts

    async def get(self, username: str, *, viewer: AccountId | None) -> Profile:
        """The profile of a username; one that the viewer may not see answers as one that does not exist."""
        name = username.strip().lower()
        account = (await self._accounts.find_by_usernames([name])).get(name)
        if account is None:
            raise AccountNotFound
        if viewer == account.id:
            relation = ONESELF
        elif viewer is None:
            relation = STRANGER
        else:
            relation = await self._graph.relation_at(account.id, viewer)
        if not is_account_visible(account, relation):
            raise AccountNotFound
        visible = VisibleAccount(account, relation)
        return Profile(visible, await self._page(visible, viewer, before=NEWEST, limit=PAGE_SIZE))

    async def page(
        self, account_id: AccountId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Post]:
        """An account's posts in the order of its profile: pinned posts first, then the others, newest first."""
        account = await self._visibility.get_account(viewer, account_id)
        return await self._page(account, viewer, before=before, limit=limit)

    async def _page(
        self, author: VisibleAccount, viewer: AccountId | None, *, before: int, limit: int
    ) -> Page[Post]:
        if not author.shows_content:
            return Page([], None)
        rows = await self._shards.owner(author.account.id).fetch(
            QUERIES.page_of_profile,
            author_id=author.account.id,
            viewer_id=viewer or 0,
            is_first=before == NEWEST,
            before=before,
            limit=max(limit, MAX_PINNED) + 1,
        )
        size = max(limit, sum(row["is_pinned"] for row in rows))  # pinned posts are never split across pages
        liked = {PostId(row["id"]): row["is_liked"] for row in rows[:size]}
        posts = await self._posts.find_by_visible_author(author, viewer, liked)
        shown = [posts[each] for each in liked if each in posts]
        return Page(shown, _next_before(rows, size))


def _next_before(rows: list[asyncpg.Record], size: int) -> int | None:
    """The cursor of the next page; after a page of nothing but pinned posts it is the newest of the others."""
    if len(rows) <= size:
        return None
    return NEWEST - 1 if rows[size - 1]["is_pinned"] else rows[size - 1]["id"]
