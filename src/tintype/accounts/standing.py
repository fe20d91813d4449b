"""Whether an account is in use, what it may do here, and how all of it is handed out and let go."""

from collections.abc import AsyncIterator

import msgspec

from tintype.accounts.claims import claimed_keys
from tintype.accounts.directory import Directory
from tintype.accounts.errors import AccountNotFound
from tintype.accounts.events import StatusChanged
from tintype.accounts.ground import Ground
from tintype.accounts.models import Account, Role, Status
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.base.log import get_log

log = get_log("accounts")


class Standing:
    """Suspends, deactivates, promotes, and at last lets go."""

    def __init__(self, ground: Ground, directory: Directory, sessions: Sessions) -> None:
        self._ground, self._directory, self._sessions = ground, directory, sessions

    async def set_status(self, account_id: AccountId, status: Status) -> None:
        """Take an account in or out of use; out of use ends everything that speaks for it, at once."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            if await tx.fetch_one(QUERIES.lock_account, id=account_id) is None:
                raise AccountNotFound
            if await tx.fetch_one(QUERIES.set_status, id=account_id, status=status):
                await self._ground.outbox.add(tx, StatusChanged(account_id, status))
            if status != "active":
                await self._sessions.end_all_in(tx, account_id)
        await self._directory.forget(account_id)
        log.info("account.status_changed", account_id=account_id, status=status)

    async def set_role(self, account_id: AccountId, role: Role) -> None:
        """Make somebody a moderator or an operator, or a person like any other again."""
        if not await self._ground.shards.owner(account_id).fetch_one(
            QUERIES.set_role, id=account_id, role=role
        ):
            raise AccountNotFound
        await self._directory.forget(account_id)
        log.info("account.role_changed", account_id=account_id, role=role)

    async def list_accounts(self, *, role: Role | None, limit: int) -> list[Account]:
        """The newest accounts of every shard, for operators."""
        found = await self._ground.shards.everywhere().fetch(
            QUERIES.page_accounts, role=role or "", limit=limit
        )
        rows = [dict(row) for row in found.complete()]
        accounts = [msgspec.convert(row, Account) for row in rows]
        return sorted(accounts, key=lambda each: each.id, reverse=True)[:limit]

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """What this room knows of a person; no hash and no secret is among it."""
        shard = self._ground.shards.owner(account_id)
        account = await shard.fetch_one(QUERIES.find_account, id=account_id)
        private = await shard.fetch_one(QUERIES.find_private, id=account_id)
        if account is None or private is None:
            return
        yield Record("account.json", _plain(dict(account) | dict(private)))
        for row in await shard.fetch(QUERIES.list_former_usernames, account_id=account_id):
            yield Record("former_usernames.json", _plain(dict(row)))
        for of_programs, file in ((False, "sessions.json"), (True, "tokens.json")):
            for row in await shard.fetch(
                QUERIES.list_sessions, account_id=account_id, of_programs=of_programs
            ):
                yield Record(file, _plain(dict(row)))
        for row in await shard.fetch(QUERIES.list_passkeys, account_id=account_id):
            kept = {name: row[name] for name in ("id", "name", "created_at", "last_used_at")}
            yield Record("passkeys.json", _plain(kept))

    async def erase(self, account_id: AccountId) -> int:
        """Let go of everything: claims first, then what the account keeps, its own row last.

        Each step can be repeated: while the row stands, it tells what else there is.
        """
        shard = self._ground.shards.owner(account_id)
        held = await shard.fetch_one(QUERIES.find_claimed, account_id=account_id)
        if held is not None:
            former = await shard.fetch(QUERIES.list_former_usernames, account_id=account_id)
            for name in {held["username"], *(row["username"] for row in former)}:
                await self._ground.usernames.release(name, account_id, at_once=True)
            keys = claimed_keys(held["username"], held["email"], held["phone"], is_verified=True)
            for key in keys:
                await self._ground.keys.release(key, account_id, at_once=True)
        async with shard.begin() as tx:
            if held is not None:
                await self._sessions.end_all_in(tx, account_id)
            gone = int(await tx.fetch_value(QUERIES.erase_secrets, account_id=account_id))
            gone += await tx.execute(QUERIES.erase_account, account_id=account_id)
        await self._directory.forget(account_id)
        return gone

    async def count_left(self, account_id: AccountId) -> int:
        """Rows of this account in this room; claims go before the account's own row does."""
        shard = self._ground.shards.owner(account_id)
        return int(await shard.fetch_value(QUERIES.count_belongings, account_id=account_id))

    async def purge(self) -> None:
        """Remove what has expired, a batch per shard and run."""
        for query in (QUERIES.purge_sessions, QUERIES.purge_mails, QUERIES.purge_challenges):
            await self._ground.shards.everywhere().execute(query)


def _plain(row: dict[str, object]) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(row)
    return plain | {name: str(value) for name, value in plain.items() if name == "id"}
