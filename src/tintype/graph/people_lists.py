"""Lists of people as a viewer may see them, page by page, each with the viewer's relation to them."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from shardwright.routing import Query, Shards
from tintype.accounts import AccountNotFound, Accounts
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.pages import Page, fill_page
from tintype.graph.relations import VisibleAccount, relation_or_stranger
from tintype.graph.service import Graph
from tintype.graph.store import QUERIES
from tintype.graph.visibility import Visibility

MUTUALS_AMONG = 1_000
"""Mutuals are searched among so many of the viewer's newest followees: one index probe each on the other shard."""
MUTUALS_READ, MUTUALS_NAMED = 12, 3
"""So many accounts are read to name a few of them, in case some may not be seen."""

FindAccounts = Callable[[AccountId, Iterable[AccountId]], Awaitable[dict[AccountId, VisibleAccount]]]
PreferenceKind = Literal["muted", "close_friends", "restricted"]
PeoplePage = Page[VisibleAccount]


@dataclass(frozen=True)
class Mutuals:
    """Followers of an account whom the viewer follows as well."""

    people: list[VisibleAccount]
    count: int
    is_exact: bool
    """False for a viewer who follows so many that only the newest were considered."""


class PeopleLists:
    """Followers, followees, requests, blocks and preferences. Cursors are change ids, so they hold as rows arrive."""

    def __init__(self, shards: Shards, accounts: Accounts, graph: Graph, visibility: Visibility) -> None:
        self._shards, self._accounts, self._graph, self._visibility = shards, accounts, graph, visibility

    async def followers(
        self, viewer: AccountId, of: AccountId, *, before: int = LARGEST_ID, limit: int
    ) -> PeoplePage:
        """An account's followers, newest first."""
        await self._check_content(viewer, of)
        return await self._page(QUERIES.newest_followers, viewer, of, before=before, limit=limit)

    async def following(
        self, viewer: AccountId, of: AccountId, *, before: int = LARGEST_ID, limit: int
    ) -> PeoplePage:
        """The accounts that an account follows, newest first."""
        await self._check_content(viewer, of)
        return await self._page(QUERIES.newest_followees, viewer, of, before=before, limit=limit)

    async def requests(self, viewer: AccountId, *, before: int = LARGEST_ID, limit: int) -> PeoplePage:
        """Follow requests that wait for the viewer's approval, newest first."""
        return await self._page(QUERIES.newest_requests, viewer, viewer, before=before, limit=limit)

    async def sent_requests(self, viewer: AccountId, *, before: int = LARGEST_ID, limit: int) -> PeoplePage:
        """Follow requests that the viewer has sent, newest first."""
        return await self._page(QUERIES.newest_sent_requests, viewer, viewer, before=before, limit=limit)

    async def blocks(self, viewer: AccountId, *, before: int = LARGEST_ID, limit: int) -> PeoplePage:
        """Accounts that the viewer has blocked, newest first: the one list that shows people hidden elsewhere."""
        return await self._page(
            QUERIES.newest_blocks, viewer, viewer, before=before, limit=limit, find=self._find_active
        )

    async def with_preference(
        self, viewer: AccountId, kind: PreferenceKind, *, before: int = LARGEST_ID, limit: int
    ) -> PeoplePage:
        """Accounts that the viewer has muted, restricted, or counts among close friends."""
        return await self._page(
            QUERIES.page_preferences, viewer, viewer, before=before, limit=limit, kind=kind
        )

    async def mutuals(self, viewer: AccountId, of: AccountId) -> Mutuals:
        """Followers of an account whom the viewer follows: a few by name, and how many there are."""
        await self._check_content(viewer, of)
        followees = await self._shards.owner(viewer).fetch(
            QUERIES.newest_followees, account_id=viewer, before=LARGEST_ID, limit=MUTUALS_AMONG
        )
        ids = [AccountId(row["id"]) for row in followees]
        rows = await self._shards.owner(of).fetch(QUERIES.which_follow, account_id=of, candidates=ids)
        both = {row["follower_id"] for row in rows}
        newest = [each for each in ids if each in both][:MUTUALS_READ]
        visible = await self._visibility.find_accounts(viewer, newest)
        named = [visible[each] for each in newest if each in visible][:MUTUALS_NAMED]
        hidden = len(newest) - len(visible)
        return Mutuals(named, len(both) - hidden, is_exact=len(ids) < MUTUALS_AMONG)

    async def _check_content(self, viewer: AccountId, of: AccountId) -> None:
        if not (await self._visibility.get_account(viewer, of)).shows_content:
            raise AccountNotFound

    async def _find_active(
        self, viewer: AccountId, ids: Iterable[AccountId]
    ) -> dict[AccountId, VisibleAccount]:
        accounts = await self._accounts.find_many(ids)
        relations = await self._graph.relations(viewer, accounts)
        return {
            each: VisibleAccount(account, relation_or_stranger(relations, each))
            for each, account in accounts.items()
            if account.is_active
        }

    async def _page(
        self,
        query: Query,
        viewer: AccountId,
        of: AccountId,
        *,
        before: int,
        limit: int,
        find: FindAccounts | None = None,
        **more: str,
    ) -> PeoplePage:
        async def fetch(before: int, limit: int) -> list[tuple[AccountId, int]]:
            rows = await self._shards.owner(of).fetch(
                query, account_id=of, before=before, limit=limit, **more
            )
            return [(AccountId(row["id"]), row["cursor"]) for row in rows]

        async def show(ids: list[AccountId]) -> dict[AccountId, VisibleAccount]:
            return await (find or self._visibility.find_accounts)(viewer, ids)

        return await fill_page(fetch, show, before=before, limit=limit)
