"""Status and role of an account: whether it is in use, and what it may do on this installation."""

from shardwright.routing import Transaction
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import AccountDirectory
from tintype.accounts.errors import AccountNotFound
from tintype.accounts.events import StatusChanged
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.models import LockedAccount, Role, Status
from tintype.accounts.sessions import Sessions
from tintype.accounts.status_rules import AccountState, StatusChange, apply_change
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId
from tintype.base.log import get_log

log = get_log("accounts")


class AccountStatus:
    """Activates, deactivates, suspends and closes accounts, and sets their roles."""

    def __init__(
        self,
        deps: AccountsDependencies,
        directory: AccountDirectory,
        sessions: Sessions,
        mail_queue: MailQueue,
    ) -> None:
        self._deps, self._directory, self._sessions = deps, directory, sessions
        self._mail_queue = mail_queue

    async def change(self, account_id: AccountId, change: StatusChange) -> Status:
        """Change the status as the rules say, and return it; any but `active` ends all sessions and API tokens at once.

        Where the status stays as it was, sessions do too: suspended people keep the one they appeal with.
        """
        async with self._deps.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if row is None:
                raise AccountNotFound
            before = AccountState(row["status"], row["status_after_suspension"])
            after = await self.change_in(tx, account_id, before, change)
            if after.status not in {before.status, "active"}:
                await self._sessions.end_all_in(tx, account_id)
            if change == "begin_deletion" and after != before:
                await self._mail_queue.notify(tx, account_id, "deletion_requested")
        await self._directory.invalidate(account_id)
        log.info("account.status_changed", account_id=account_id, status=after.status)
        return after.status

    async def change_in(
        self, tx: Transaction, account_id: AccountId, before: AccountState, change: StatusChange
    ) -> AccountState:
        """Change the status in a transaction that has locked the account's row; returns what holds once it commits."""
        after = apply_change(before, change)
        if after != before:
            await tx.execute(
                QUERIES.set_status,
                id=account_id,
                status=after.status,
                after_suspension=after.after_suspension,
            )
            await self._deps.outbox.add(tx, StatusChanged(account_id, after.status))
        return after

    async def set_role(self, account_id: AccountId, role: Role) -> None:
        """Make somebody a moderator, an operator, or an ordinary person again."""
        if not await self._deps.shards.owner(account_id).fetch_one(
            QUERIES.set_role, id=account_id, role=role
        ):
            raise AccountNotFound
        await self._directory.invalidate(account_id)
        log.info("account.role_changed", account_id=account_id, role=role)

    async def lock(self, tx: Transaction, account_id: AccountId) -> LockedAccount | None:
        """Lock an account's row until this transaction ends; None when there is no such account."""
        row = await tx.fetch_one(QUERIES.lock_status, id=account_id)
        return LockedAccount(**row) if row else None

    async def touch(self, tx: Transaction, account_id: AccountId) -> None:
        """Write an account's row anew, so that statements which began before this commit notice that they are late."""
        await tx.execute(QUERIES.touch_account, id=account_id)

    async def read_privacy(self, account_id: AccountId) -> bool | None:
        """Whether an account is private now, bypassing the cache; None when there is no such account."""
        return await self._deps.shards.owner(account_id).fetch_value(QUERIES.find_privacy, id=account_id)

    async def close(self, tx: Transaction, account_id: AccountId) -> None:
        """Set the status `gone` when this transaction commits: nobody can sign in again."""
        await tx.execute(QUERIES.close_account, id=account_id)
