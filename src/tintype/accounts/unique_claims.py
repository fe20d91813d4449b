"""Uniqueness across shards: usernames, email addresses, phone numbers and lookalike forms of verified usernames.

A key is claimed first, on the shard its hash gives; then the account's own row is updated to hold the value. A process
may die in between, so a claim counts only while its account backs it (really holds the value). A claim that is older
than a minute and not backed is taken over by the next caller who wants the key. An account is updated within 45
seconds of its claim or not at all, so that a slow process cannot use a claim it has lost meanwhile.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from shardwright.routing import Query, Shards
from tintype.accounts.identifiers import email_key, lookalike_key, phone_key
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId, has_shard

IsBacked = Callable[[AccountId, str], Awaitable[bool]]


@dataclass(frozen=True)
class ClaimQueries:
    """The statements of one table of claims."""

    claim: Query
    find: Query
    take_over: Query
    release: Query


class UniqueClaims:
    """One table of claims, and the check whether an account backs one."""

    def __init__(self, shards: Shards, queries: ClaimQueries, is_backed: IsBacked) -> None:
        self._shards, self._queries, self._check_backed = shards, queries, is_backed

    async def acquire(self, key: str, account_id: AccountId) -> datetime | None:
        """Claim a key; returns when it was claimed, or None while another account holds it."""
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
        """The account that holds a key, backed or not."""
        row = await self._shards.of(key).fetch_one(self._queries.find, key=key)
        return AccountId(row["account_id"]) if row else None

    async def find_backed(self, key: str) -> AccountId | None:
        """The account that holds a key and backs the claim."""
        holder = await self.find(key)
        return holder if holder is not None and await self._is_backed(holder, key) else None

    async def release(self, key: str, account_id: AccountId, *, at_once: bool = False) -> None:
        """Give a key back; a claim of less than a minute ago only with `at_once`."""
        await self._shards.of(key).execute(
            self._queries.release, key=key, account_id=account_id, at_once=at_once
        )

    async def _is_backed(self, account_id: AccountId, key: str) -> bool:
        return has_shard(self._shards, account_id) and await self._check_backed(account_id, key)


def username_claims(shards: Shards) -> UniqueClaims:
    """Claims of usernames: backed by an account that has the name, or had it in the last 14 days."""

    async def is_backed(account_id: AccountId, key: str) -> bool:
        shard = shards.owner(account_id)
        return bool(await shard.fetch_value(QUERIES.is_username_backed, account_id=account_id, key=key))

    queries = ClaimQueries(
        QUERIES.claim_username,
        QUERIES.find_username,
        QUERIES.take_over_username,
        QUERIES.release_username,
    )
    return UniqueClaims(shards, queries, is_backed)


def contact_claims(shards: Shards) -> UniqueClaims:
    """Claims of email addresses, phone numbers and lookalikes of verified usernames."""

    async def is_backed(account_id: AccountId, key: str) -> bool:
        row = await shards.owner(account_id).fetch_one(QUERIES.find_claimed, account_id=account_id)
        return row is not None and key in backed_keys(
            row["username"], row["email"], row["phone"], is_verified=row["is_verified"]
        )

    queries = ClaimQueries(QUERIES.claim_key, QUERIES.find_key, QUERIES.take_over_key, QUERIES.release_key)
    return UniqueClaims(shards, queries, is_backed)


def backed_keys(username: str, email: str | None, phone: str | None, *, is_verified: bool) -> set[str]:
    """Every claim key that an account with these values backs."""
    keys = {email_key(email)} if email else set[str]()
    keys |= {phone_key(phone)} if phone else set()
    return keys | ({lookalike_key(username)} if is_verified else set())
