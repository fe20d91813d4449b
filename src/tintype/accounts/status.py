"""Status and role of an account: whether it is in use, and what it may do on this installation."""

from shardwright.routing import Transaction
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import AccountDirectory
from tintype.accounts.errors import AccountNotFound
from tintype.accounts.events import StatusChanged
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.models import LockedAccount, Role, Status
from tintype.accounts.sessions import Sessions
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

    async def set_status(self, account_id: AccountId, status: Status) -> None:
        """Change the status; a change to any but `active` ends all sessions and API tokens at once.

        Setting the status that holds already changes nothing: suspended people keep the session they appeal with.
        """
        async with self._deps.shards.owner(account_id).begin() as tx:
            if await tx.fetch_one(QUERIES.lock_account, id=account_id) is None:
                raise AccountNotFound
            if await tx.fetch_one(QUERIES.set_status, id=account_id, status=status):
                await self._deps.outbox.add(tx, StatusChanged(account_id, status))
                if status != "active":
                    await self._sessions.end_all_in(tx, account_id)
                if status == "leaving":
                    await self._mail_queue.notify(tx, account_id, "deletion_requested")
        await self._directory.invalidate(account_id)
        log.info("account.status_changed", account_id=account_id, status=status)

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

    async def read_privacy(self, account_id: AccountId) -> bool | None:
        """Whether an account is private now, bypassing the cache; None when there is no such account."""
        return await self._deps.shards.owner(account_id).fetch_value(QUERIES.find_privacy, id=account_id)

    async def close(self, tx: Transaction, account_id: AccountId) -> None:
        """Set the status `gone` when this transaction commits: nobody can sign in again."""
        await tx.execute(QUERIES.close_account, id=account_id)
