"""Finding accounts: by id through the cache, or by username, email address or phone number.

Counts are cached apart: everybody reads the accounts of authors and viewers, few their counts, and follows and posts
change nothing but those.
"""

from collections.abc import Iterable, Mapping, Sequence

import asyncpg
import msgspec

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import AccountNotFound, EmailRefused, PhoneRefused
from tintype.accounts.identifiers import check_email, check_phone, email_key, fold_identifier, phone_key
from tintype.accounts.models import Account, AccountCounts, Role
from tintype.accounts.store import QUERIES
from tintype.accounts.username_rules import USERNAME, fold_username
from tintype.base.ids import AccountId, has_shard
from tintype.base.shard_groups import gather_rows
from tintype.redis.client import Command
from tintype.redis.leased_cache import CacheKind, CacheSource

ACCOUNTS = CacheKind("account", Account, ttl_s=300, version=2, max_decoded=20_000)
COUNTS = CacheKind("account_counts", AccountCounts, ttl_s=300, max_decoded=20_000)


class AccountDirectory:
    """Reads accounts, in any status."""

    def __init__(self, deps: AccountsDependencies) -> None:
        self._deps = deps
        self.source = CacheSource(ACCOUNTS, self._load)
        """Cached accounts, for readers that fetch several kinds of values in one round trip."""
        self.client_cached: Mapping[AccountId, Account | None] = deps.cache.region(ACCOUNTS).values
        """Accounts in the client-side cache; `redis/client_cache.py` says when they may be relied on."""

    async def find_id(self, username: str) -> AccountId | None:
        """The id of the account that holds a username, in upper or lower case."""
        name = fold_username(username)
        return await self._deps.usernames.find(name) if USERNAME.fullmatch(name) else None

    async def find_by_any_name(self, identifier: str) -> AccountId | None:
        """The id of the account with this username, confirmed email address or phone number."""
        claims, identifier = self._deps.contact_claims, fold_identifier(identifier)
        try:
            if "@" in identifier:
                return await claims.find_backed(email_key(check_email(identifier)))
            if identifier.startswith("+"):
                return await claims.find_backed(phone_key(check_phone(identifier)))
        except (EmailRefused, PhoneRefused):
            return None
        return await self.find_id(identifier)

    async def get(self, account_id: AccountId, *, with_counts: bool = True) -> Account:
        """One account, in any status; without its current counts where they are not needed."""
        found = await self.find_many([account_id])
        if account_id not in found:
            raise AccountNotFound
        return (await self.add_counts(found) if with_counts else found)[account_id]

    async def get_by_name(self, username: str) -> Account:
        """One account by its username, in any status."""
        account_id = await self.find_id(username)
        if account_id is None:
            raise AccountNotFound
        return await self.get(account_id)

    async def find_many(self, ids: Iterable[AccountId]) -> dict[AccountId, Account]:
        """Those of the accounts that exist, in any status: cached ones, the rest in one round trip per server."""
        known = [account_id for account_id in set(ids) if has_shard(self._deps.shards, account_id)]
        return await self._deps.cache.get_many(ACCOUNTS, known, self._load)

    async def find_counts(self, ids: Iterable[AccountId]) -> dict[AccountId, AccountCounts]:
        """The current counts of those of the accounts that exist."""
        known = [account_id for account_id in set(ids) if has_shard(self._deps.shards, account_id)]
        return await self._deps.cache.get_many(COUNTS, known, self._load_counts)

    async def add_counts(self, accounts: Mapping[AccountId, Account]) -> dict[AccountId, Account]:
        """The same accounts with their current counts."""
        counts = await self.find_counts(accounts)
        return {
            each: counts[each].added_to(account) if each in counts else account
            for each, account in accounts.items()
        }

    async def drop_outdated(self, ids: Iterable[AccountId]) -> None:
        """Drop those counts from the cache that differ from their rows; one read per server.

        For handlers that finish what a process which died after its commit left undone.
        """
        gathered = await self._deps.shards.gather(QUERIES.gather_counts, list(set(ids)))
        stored = _counts(gathered.complete())
        outdated = await self._deps.cache.find_outdated(
            COUNTS, list(stored), is_current=lambda each, cached: cached == stored.get(each)
        )
        await self.invalidate_counts(*outdated)

    async def list_newest(self, *, role: Role | None, limit: int) -> list[Account]:
        """The newest accounts of the installation, all or those of one role, for operators."""
        found = await self._deps.shards.everywhere().fetch(
            QUERIES.list_newest_accounts, role=role or "", limit=limit
        )
        accounts = [msgspec.convert(dict(row), Account) for row in found.complete()]
        return sorted(accounts, key=lambda each: each.id, reverse=True)[:limit]

    async def list_most_followed(self, limit: int) -> list[tuple[AccountId, int]]:
        """The public accounts with the most followers, with their number: reads every shard, for background work."""
        found = await self._deps.shards.everywhere(deadline_s=60).fetch(
            QUERIES.list_most_followed, limit=limit
        )
        accounts = [(AccountId(row["id"]), int(row["follower_count"])) for row in found.complete()]
        return sorted(accounts, key=lambda each: (-each[1], each[0]))[:limit]

    async def exist_others(self, account_id: AccountId, *, besides: frozenset[str]) -> bool:
        """Whether any account exists but this one and those with the given usernames; stops at the first found."""
        shards, names = self._deps.shards, sorted(besides)
        for number in sorted(shards.map.owners):
            found = await shards.shard(number).fetch_value(
                QUERIES.find_other, account_id=account_id, besides=names
            )
            if found is not None:
                return True
        return False

    async def invalidate(self, *ids: AccountId) -> None:
        """Drop these accounts and their counts from the cache after a committed change."""
        await self._deps.cache.invalidate(ACCOUNTS, *ids)
        await self.invalidate_counts(*ids)

    async def invalidate_counts(self, *ids: AccountId, along: Sequence[Command] = ()) -> None:
        """Drop the counts of these accounts from the cache after a committed change of nothing else.

        The commands `along` go out in the same round trip.
        """
        await self._deps.cache.invalidate(COUNTS, *ids, along=along)

    async def _load(self, ids: list[AccountId]) -> dict[AccountId, Account]:
        rows = await gather_rows(self._deps.shards, QUERIES.gather_accounts, ids)
        return {AccountId(row["id"]): Account(**row) for row in rows}

    async def _load_counts(self, ids: list[AccountId]) -> dict[AccountId, AccountCounts]:
        return _counts(await gather_rows(self._deps.shards, QUERIES.gather_counts, ids))


def _counts(rows: Iterable[asyncpg.Record]) -> dict[AccountId, AccountCounts]:
    return {AccountId(row["id"]): AccountCounts(*tuple(row)[1:]) for row in rows}
