"""What only one account may have, although accounts live on many shards: names, addresses, numbers, looks.

The claim is made first, on the shard that the key's hash gives, and then the account is brought to agree with it. A
process may die in between; so a claim counts only while its account backs it. One that is older than a minute and not
backed is taken over by the next who asks; and an account is brought to agree within 45 seconds of its claim or not at
all, so that a slow process cannot wake up and use a claim it has lost.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from shardwright.running import Query, Shards
from tintype.accounts.contacts import email_key, look_key, phone_key
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId, has_shard

Backs = Callable[[AccountId, str], Awaitable[bool]]


@dataclass(frozen=True)
class ClaimQueries:
    """The statements of one table of claims."""

    claim: Query
    find: Query
    take_over: Query
    release: Query


class Claims:
    """One table of claims, and how an account is asked whether it stands behind one."""

    def __init__(self, shards: Shards, queries: ClaimQueries, backs: Backs) -> None:
        self._shards, self._queries, self._backs = shards, queries, backs

    async def make(self, key: str, account_id: AccountId) -> datetime | None:
        """Claim a key; returns when, or None while it is somebody else's."""
        shard, queries = self._shards.of(key), self._queries
        claimed_at = await shard.fetch_value(queries.claim, key=key, account_id=account_id)
        if claimed_at is not None:
            return claimed_at
        held = await shard.fetch_one(queries.find, key=key)
        if held is None or not held["is_old"]:
            return None
        stale_id = AccountId(held["account_id"])
        if await self._is_backed(stale_id, key):
            return None
        return await shard.fetch_value(queries.take_over, key=key, account_id=account_id, stale_id=stale_id)

    async def find(self, key: str) -> AccountId | None:
        """Who holds a key, backed or not."""
        row = await self._shards.of(key).fetch_one(self._queries.find, key=key)
        return AccountId(row["account_id"]) if row else None

    async def find_backed(self, key: str) -> AccountId | None:
        """Who holds a key and stands behind it."""
        holder = await self.find(key)
        return holder if holder is not None and await self._is_backed(holder, key) else None

    async def release(self, key: str, account_id: AccountId, *, at_once: bool = False) -> None:
        """Give a key back; one that was claimed a moment ago only if that is meant."""
        await self._shards.of(key).execute(
            self._queries.release, key=key, account_id=account_id, at_once=at_once
        )

    async def _is_backed(self, account_id: AccountId, key: str) -> bool:
        return has_shard(self._shards, account_id) and await self._backs(account_id, key)


def username_claims(shards: Shards) -> Claims:
    """The claims of usernames."""

    async def backs(account_id: AccountId, key: str) -> bool:
        shard = shards.owner(account_id)
        return bool(await shard.fetch_value(QUERIES.backs_username, account_id=account_id, key=key))

    queries = ClaimQueries(
        QUERIES.claim_username,
        QUERIES.find_username,
        QUERIES.take_over_username,
        QUERIES.release_username,
    )
    return Claims(shards, queries, backs)


def key_claims(shards: Shards) -> Claims:
    """The claims of addresses, numbers and looks."""

    async def backs(account_id: AccountId, key: str) -> bool:
        row = await shards.owner(account_id).fetch_one(QUERIES.find_claimed, account_id=account_id)
        return row is not None and key in claimed_keys(
            row["username"], row["email"], row["phone"], is_verified=row["is_verified"]
        )

    queries = ClaimQueries(QUERIES.claim_key, QUERIES.find_key, QUERIES.take_over_key, QUERIES.release_key)
    return Claims(shards, queries, backs)


def claimed_keys(username: str, email: str | None, phone: str | None, *, is_verified: bool) -> set[str]:
    """Every key that an account stands behind."""
    keys = {email_key(email)} if email else set[str]()
    keys |= {phone_key(phone)} if phone else set()
    return keys | ({look_key(username)} if is_verified else set())
