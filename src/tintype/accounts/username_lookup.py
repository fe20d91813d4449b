"""Accounts by username, through the cache.

A cached username is believed only while the account it leads to still has that name. A rename therefore needs no
invalidation here: it invalidates the account, and the stale username is looked up again.
"""

import asyncio
from collections.abc import Iterable

from tintype.accounts.directory import AccountDirectory
from tintype.accounts.models import Account
from tintype.accounts.username_rules import USERNAME
from tintype.base.ids import AccountId
from tintype.redis.leased_cache import CacheKind, LeasedCache

USERNAMES = CacheKind("username", int, ttl_s=3_600, max_decoded=20_000, parse_id=str)


class UsernameLookup:
    """Finds accounts by username, many at once."""

    def __init__(self, directory: AccountDirectory, cache: LeasedCache) -> None:
        self._directory, self._cache = directory, cache

    async def find(self, usernames: Iterable[str]) -> dict[str, Account]:
        """The accounts that have these usernames now; give them in lower case."""
        wanted = [name for name in dict.fromkeys(usernames) if USERNAME.fullmatch(name)]
        found = await self._read(wanted)
        stale = [name for name in wanted if name in found and found[name].username != name]
        if stale:
            await self._cache.invalidate(USERNAMES, *stale)
            found |= await self._read(stale)
        return {name: account for name, account in found.items() if account.username == name}

    async def _read(self, usernames: list[str]) -> dict[str, Account]:
        ids = await self._cache.get_many(USERNAMES, usernames, self._load)
        accounts = await self._directory.find_many(AccountId(each) for each in ids.values())
        return {name: accounts[AccountId(each)] for name, each in ids.items() if each in accounts}

    async def _load(self, usernames: list[str]) -> dict[str, int]:
        ids = await asyncio.gather(*(self._directory.find_id(name) for name in usernames))
        return {name: each for name, each in zip(usernames, ids, strict=True) if each is not None}
