"""Profiles: the account, the viewer's relation to it, and the first page of its posts.

Everything lies on the shard of the profile's account, so a profile reads one shard however many there are: the
viewer's relation is mirrored there, and likes lie with the posts they belong to. It is one statement, unless nobody is
signed in, or a replica may list the posts: relations and counts are read at the primary.
"""

from collections.abc import Container, Sequence

import msgspec

from tintype.accounts import Account, AccountCounts, AccountNotFound
from tintype.base.ids import AccountId, PostId
from tintype.base.pages import Page
from tintype.base.replica_reads import may_read_replicas, replica_reader
from tintype.graph import Relation, VisibleAccount, is_account_visible
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.models import MAX_PINNED, ListedPost, Post
from tintype.posts.service import Posts
from tintype.posts.store import QUERIES

PAGE_SIZE = 12
NEWEST = 2**63 - 1


class Profile(msgspec.Struct, frozen=True):
    """A profile as one viewer sees it. There are no posts where the viewer may not see them."""

    account: VisibleAccount
    posts: Page[ListedPost]


class _PostIds(msgspec.Struct, frozen=True):
    """The ids of a page of posts and of the first one after it: pinned ones first, then the newest first."""

    ids: Sequence[PostId]
    pinned_count: int
    liked: Container[PostId]
    """Those that the viewer likes."""


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
        author, first = await self._read(account, viewer)
        if not is_account_visible(author.account, author.relation):
            raise AccountNotFound
        if not author.shows_content:
            return Profile(author, Page([], None))
        if first is None:
            first = await self._read_ids(account.id, viewer, before=NEWEST, limit=PAGE_SIZE)
        return Profile(author, await self._show(author, viewer, first, PAGE_SIZE))

    async def page(
        self, account_id: AccountId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Post]:
        """An account's posts in the order of its profile: pinned posts first, then the others, newest first."""
        author = await self._visibility.get_account(viewer, account_id)
        if not author.shows_content:
            return Page([], None)
        found = await self._read_ids(account_id, viewer, before=before, limit=limit)
        page = await self._show(author, viewer, found, limit)
        return Page([each.post for each in page.items], page.next_before)

    async def _read(
        self, account: Account, viewer: AccountId | None
    ) -> tuple[VisibleAccount, _PostIds | None]:
        """The account with its counts and the viewer's relation to it; and its first posts, if they were read along."""
        is_alone = viewer is None or viewer == account.id
        if is_alone or may_read_replicas():
            counted = await self._accounts.add_counts({account.id: account})
            relation = await self._graph.relation_at(account.id, viewer)
            return VisibleAccount(counted[account.id], relation), None
        row = await self._shards.owner(account.id).fetch_one(
            QUERIES.read_profile, author_id=account.id, viewer_id=viewer, limit=PAGE_SIZE + 1
        )
        if row is None:
            raise AccountNotFound
        follows, has_requested, follows_viewer, blocks, is_blocked, ids, pinned_count, liked, *counts = row
        relation = Relation(
            follows=follows,
            has_requested=has_requested,
            follows_viewer=follows_viewer,
            blocks=blocks,
            is_blocked=is_blocked,
        )
        return (
            VisibleAccount(AccountCounts(*counts).added_to(account), relation),
            _PostIds(ids, pinned_count, liked),
        )

    async def _read_ids(
        self, author_id: AccountId, viewer: AccountId | None, *, before: int, limit: int
    ) -> _PostIds:
        rows = (
            await replica_reader(self._shards)
            .owner(author_id)
            .fetch(
                QUERIES.page_of_profile,
                author_id=author_id,
                viewer_id=viewer or 0,
                is_first=before == NEWEST,
                before=before,
                limit=max(limit, MAX_PINNED) + 1,
            )
        )
        liked = {PostId(row["id"]) for row in rows if row["is_liked"]}
        return _PostIds([row["id"] for row in rows], sum(row["is_pinned"] for row in rows), liked)

    async def _show(
        self, author: VisibleAccount, viewer: AccountId | None, found: _PostIds, limit: int
    ) -> Page[ListedPost]:
        size = max(limit, found.pinned_count)  # pinned posts are never split across pages
        posts = await self._posts.list_by_visible_author(author, viewer, found.ids[:size], found.liked)
        return Page(posts, _next_before(found, size))


def _next_before(found: _PostIds, size: int) -> int | None:
    """The cursor of the next page; after a page of nothing but pinned posts it is the newest of the others."""
    if len(found.ids) <= size:
        return None
    return NEWEST - 1 if size == found.pinned_count else found.ids[size - 1]
