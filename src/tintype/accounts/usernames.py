"""Changes of username and verification.

A former username stays reserved for its account for 14 days. A name that looks like a verified account's is refused.
"""

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import AccountDirectory
from tintype.accounts.errors import AccountNotFound, UsernameRefused, UsernameTaken
from tintype.accounts.events import AccountChanged
from tintype.accounts.identifiers import lookalike_key
from tintype.accounts.models import Account, Caller
from tintype.accounts.rate_limits import AuthRateLimits
from tintype.accounts.store import QUERIES
from tintype.accounts.username_rules import check_username
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log

RESERVED_DAYS = 14
LOOKALIKE_REFUSAL = "That username looks like the name of a verified account."
log = get_log("accounts")


class Usernames:
    """Renames and verifies accounts, and releases former usernames."""

    def __init__(
        self, deps: AccountsDependencies, directory: AccountDirectory, limits: AuthRateLimits
    ) -> None:
        self._deps, self._directory, self._limits = deps, directory, limits

    async def rename(self, account_id: AccountId, username: str) -> Account:
        """Change the username. The old one stays reserved for 14 days, so links work and nobody can impersonate."""
        name = check_username(username)
        account = await self._directory.get(account_id)
        if account.username == name:
            return account
        await self._limits.change_username(account_id)
        if account.is_verified:
            await self._claim_lookalike(name, account_id)
        else:
            await self.check_lookalike(name, account_id)
        claimed_at = await self._deps.usernames.acquire(name, account_id)
        if claimed_at is None:
            raise UsernameTaken
        async with self._deps.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if before is None:
                raise AccountNotFound
            if not await tx.fetch_one(
                QUERIES.rename_account, id=account_id, username=name, claimed_at=claimed_at
            ):
                raise Unavailable
            old = {"account_id": account_id, "username": before["username"]}
            if before["username"] != name:
                await tx.execute(QUERIES.reserve_former_username, days=RESERVED_DAYS, **old)
            await tx.execute(QUERIES.delete_former_username, account_id=account_id, username=name)
            await self._deps.outbox.add(tx, AccountChanged(account_id))
        await self._directory.invalidate(account_id)
        log.info("account.renamed", account_id=account_id)
        return await self._directory.get(account_id)

    async def verify(self, account_id: AccountId, *, is_verified: bool) -> None:
        """Mark an account as verified, or no longer; while it is, names that look like its own are refused."""
        account = await self._directory.get(account_id)
        if is_verified:
            await self._claim_lookalike(account.username, account_id)
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.set_verified, id=account_id, is_verified=is_verified)
            await self._deps.outbox.add(tx, AccountChanged(account_id))
        if not is_verified:
            await self._deps.contact_claims.release(lookalike_key(account.username), account_id)
        await self._directory.invalidate(account_id)

    async def check_lookalike(self, username: str, account_id: AccountId) -> None:
        """Refuse a name that looks like another, verified account's."""
        holder = await self._deps.contact_claims.find_backed(lookalike_key(username))
        if holder is not None and holder != account_id:
            raise UsernameRefused(LOOKALIKE_REFUSAL)

    async def is_available(self, username: str, caller: Caller) -> bool:
        """Whether a name is free; usernames are public, so the answer reveals nothing."""
        await self._limits.check_username(caller)
        name = check_username(username)
        await self.check_lookalike(name, AccountId(0))
        return await self._deps.usernames.find_backed(name) is None

    async def release_expired(self) -> None:
        """Make former usernames whose 14 days are over available to everybody."""
        found = await self._deps.shards.everywhere().fetch(QUERIES.list_expired_usernames)
        for row in found.rows:
            name, account_id = row["username"], AccountId(row["account_id"])
            await self._deps.usernames.release(name, account_id)
            await self._deps.shards.owner(account_id).execute(
                QUERIES.delete_former_username, account_id=account_id, username=name
            )

    async def _claim_lookalike(self, username: str, account_id: AccountId) -> None:
        if await self._deps.contact_claims.acquire(lookalike_key(username), account_id) is None:
            raise UsernameRefused(LOOKALIKE_REFUSAL)
