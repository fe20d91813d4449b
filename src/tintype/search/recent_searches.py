"""Recent searches, on the shard of the account that made them."""

from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from tintype.accounts import AccountNotFound
from tintype.base.errors import NotFound
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.search.dependencies import SearchDependencies
from tintype.search.errors import RecentSearchInvalid, RecentSearchNotFound
from tintype.search.models import RecentKind, RecentSearch
from tintype.search.normalize import typed_hashtag_key
from tintype.search.places import Places
from tintype.search.store import QUERIES

MAX_KEPT = 50
LONGEST_SUBJECT = 100


class RecentSearches:
    """The last fifty searches of each account."""

    def __init__(self, deps: SearchDependencies, places: Places) -> None:
        self._shards, self._visibility, self._places = deps.shards, deps.visibility, places

    async def add(self, account_id: AccountId, kind: RecentKind, subject: str) -> RecentSearch:
        """Put a search at the front of the list."""
        known = await self._check(account_id, kind, subject)
        async with self._shards.owner(account_id).begin() as tx:
            search_id: int = await tx.fetch_value(
                QUERIES.add_search, account_id=account_id, kind=kind, subject=known
            )
            await tx.execute(QUERIES.trim_searches, account_id=account_id, kept=MAX_KEPT)
        return (await self._titled(account_id, [RecentSearch(search_id, kind, known)]))[0]

    async def list_latest(self, account_id: AccountId) -> list[RecentSearch]:
        """The account's recent searches, latest first, without accounts and places it may no longer see."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_searches, account_id=account_id, limit=MAX_KEPT
        )
        found = [RecentSearch(row["id"], cast("RecentKind", row["kind"]), row["subject"]) for row in rows]
        return await self._titled(account_id, found)

    async def remove(self, account_id: AccountId, search_id: int) -> None:
        """Remove one search from the list."""
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.delete_search, account_id=account_id, id=search_id
        )
        if row is None:
            raise RecentSearchNotFound

    async def clear(self, account_id: AccountId) -> int:
        """Remove all searches of the account; returns how many there were."""
        return await self._shards.owner(account_id).execute(QUERIES.clear_searches, account_id=account_id)

    async def count(self, account_id: AccountId) -> int:
        """How many searches of the account are stored."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_searches, account_id=account_id)

    async def _titled(self, viewer: AccountId, found: Sequence[RecentSearch]) -> list[RecentSearch]:
        people = [AccountId(int(each.subject)) for each in found if each.kind == "account"]
        visible = await self._visibility.find_accounts(viewer, people) if people else {}
        places = [each.subject for each in found if each.kind == "place"]
        known = await self._places.find_many(places, viewer=viewer) if places else {}

        def name(search: RecentSearch) -> RecentSearch | None:
            if search.kind == "account":
                one = visible.get(AccountId(int(search.subject)))
                return replace(search, title=one.account.username, account=one.account) if one else None
            if search.kind == "place":
                place = known.get(search.subject)
                return replace(search, title=place.name) if place else None
            return replace(search, title=search.subject)

        return [named for each in found if (named := name(each))]

    async def _check(self, account_id: AccountId, kind: RecentKind, subject: str) -> str:
        known = " ".join(subject.split())
        if not 0 < len(known) <= LONGEST_SUBJECT or "\0" in known or not known.isprintable():
            raise RecentSearchInvalid
        try:
            if kind == "account":
                await self._visibility.get_account(account_id, _account_id(known))
            elif kind == "place":
                await self._places.get(known, viewer=account_id)
        except NotFound as error:
            raise RecentSearchInvalid from error
        if kind == "tag":
            known = typed_hashtag_key(known)
        return known


def _account_id(text: str) -> AccountId:
    if not (text.isascii() and text.isdigit() and not text.startswith("0") and int(text[:20]) <= LARGEST_ID):
        raise AccountNotFound
    return AccountId(int(text))
