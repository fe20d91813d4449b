"""From usernames to accounts, through the cache.

An entry is believed only when the account it leads to still has that name, so a rename needs no message: the account's
own card is read anew after it, and the stale entry is looked up again.
"""

import asyncio
import re
from collections.abc import Iterable

from tintype.accounts import Account, Accounts
from tintype.base.cache import Cache, Kind
from tintype.base.ids import AccountId

NAMES = Kind("username", int, ttl_s=3_600)
_NAME = re.compile(r"[a-z0-9_.]{1,30}")


class Names:
    """Finds accounts by name."""

    def __init__(self, accounts: Accounts, cache: Cache) -> None:
        self._accounts, self._cache = accounts, cache

    async def find(self, names: Iterable[str]) -> dict[str, Account]:
        """The accounts that have these names, in lower case, now."""
        wanted = [name for name in dict.fromkeys(names) if _NAME.fullmatch(name)]
        found = await self._look(wanted)
        stale = [name for name in wanted if name in found and found[name].username != name]
        if stale:
            await self._cache.forget(NAMES, *stale)
            found |= await self._look(stale)
        return {name: account for name, account in found.items() if account.username == name}

    async def _look(self, names: list[str]) -> dict[str, Account]:
        ids = await self._cache.get_many(NAMES, names, self._load)
        accounts = await self._accounts.find_many(AccountId(each) for each in ids.values())
        return {name: accounts[AccountId(each)] for name, each in ids.items() if each in accounts}

    async def _load(self, names: list[str]) -> dict[str, int]:
        ids = await asyncio.gather(*(self._accounts.find_id(name) for name in names))
        return {name: each for name, each in zip(names, ids, strict=True) if each is not None}
