"""What somebody looked for lately, on their own shard."""

import asyncio
from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from shardwright.running import Shards
from tintype.accounts import AccountNotFound
from tintype.base.errors import NotFound
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.graph import Sight
from tintype.search.errors import RecentSearchInvalid, RecentSearchNotFound
from tintype.search.filing import QUERIES
from tintype.search.models import RecentKind, RecentSearch
from tintype.search.places import Places
from tintype.search.words import tag_key

MOST_KEPT = 50
LONGEST_SUBJECT = 100
Titled = list[RecentSearch]


class RecentSearches:
    """The last fifty searches of each person."""

    def __init__(self, shards: Shards, sight: Sight, places: Places) -> None:
        self._shards, self._sight, self._places = shards, sight, places

    async def remember(self, account_id: AccountId, kind: RecentKind, subject: str) -> RecentSearch:
        """Put a search at the front of the list."""
        known = await self._check(account_id, kind, subject)
        async with self._shards.owner(account_id).begin() as tx:
            made: int = await tx.fetch_value(
                QUERIES.remember_search, account_id=account_id, kind=kind, subject=known
            )
            await tx.execute(QUERIES.trim_searches, account_id=account_id, kept=MOST_KEPT)
        return (await self._titled(account_id, [RecentSearch(made, kind, known)]))[0]

    async def list(self, account_id: AccountId) -> list[RecentSearch]:
        """The latest first; whom one may not see any more is left out."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_searches, account_id=account_id, limit=MOST_KEPT
        )
        found = [RecentSearch(row["id"], cast("RecentKind", row["kind"]), row["subject"]) for row in rows]
        return await self._titled(account_id, found)

    async def forget(self, account_id: AccountId, search_id: int) -> None:
        """Remove one."""
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.forget_search, account_id=account_id, id=search_id
        )
        if row is None:
            raise RecentSearchNotFound

    async def clear(self, account_id: AccountId) -> int:
        """Remove all; returns how many there were."""
        return await self._shards.owner(account_id).execute(QUERIES.forget_searches, account_id=account_id)

    async def count(self, account_id: AccountId) -> int:
        """How many are kept."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_searches, account_id=account_id)

    async def _titled(self, viewer: AccountId, found: Sequence[RecentSearch]) -> Titled:
        people = [AccountId(int(each.subject)) for each in found if each.kind == "account"]
        seen = await self._sight.of(viewer, people) if people else {}
        places = [each.subject for each in found if each.kind == "place"]
        known = {one.id: one for one in await asyncio.gather(*map(self._places.get, places))}

        def name(search: RecentSearch) -> RecentSearch | None:
            if search.kind == "account":
                one = seen.get(AccountId(int(search.subject)))
                return replace(search, title=one.account.username, account=one.account) if one else None
            title = known[search.subject].name if search.kind == "place" else search.subject
            return replace(search, title=title)

        return [named for each in found if (named := name(each))]

    async def _check(self, account_id: AccountId, kind: RecentKind, subject: str) -> str:
        known = " ".join(subject.split())
        if not 0 < len(known) <= LONGEST_SUBJECT or "\0" in known or not known.isprintable():
            raise RecentSearchInvalid
        try:
            if kind == "account":
                await self._sight.get(account_id, _account_id(known))
            elif kind == "place":
                await self._places.get(known)
        except NotFound as error:
            raise RecentSearchInvalid from error
        if kind == "tag":
            known = tag_key(known)
        return known


def _account_id(text: str) -> AccountId:
    if not (text.isascii() and text.isdigit() and not text.startswith("0") and int(text[:20]) <= LARGEST_ID):
        raise AccountNotFound
    return AccountId(int(text))
