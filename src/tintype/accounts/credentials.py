"""Password changes, password resets, and reauthentication before credentials are changed."""

import secrets
from typing import Any

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import Directory
from tintype.accounts.errors import LinkWrong, ProofWrong
from tintype.accounts.events import ResetAsked
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.models import Account, AuthenticatedSession, Caller
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.rate_limits import AuthRateLimits, digest
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token
from tintype.accounts.totp import Totp
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log

MAX_IDENTIFIER_LENGTH = 300
log = get_log("accounts")


class Credentials:
    """Changes what somebody signs in with."""

    def __init__(
        self,
        deps: AccountsDependencies,
        directory: Directory,
        sessions: Sessions,
        *,
        mail_queue: MailQueue,
        totp: Totp,
        passkeys: Passkeys,
        limits: AuthRateLimits,
    ) -> None:
        self._deps, self._directory, self._sessions = deps, directory, sessions
        self._mail_queue, self._totp, self._passkeys, self._limits = mail_queue, totp, passkeys, limits

    async def change_password(self, session: AuthenticatedSession, current: str, new: str) -> None:
        """Set a new password; every other session ends, this one stays."""
        account_id = session.account_id
        await self.check_password(account_id, current)
        new_hash = await self._hash_new(account_id, new)
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            email = await tx.fetch_value(QUERIES.set_password, id=account_id, password_hash=new_hash)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="reset_password")
            await self._sessions.end_others_in(tx, session)
            if email:
                await self._mail_queue.enqueue(tx, account_id, "password_changed", email)
        log.info("password.changed", account_id=account_id)

    async def request_reset(self, identifier: str, caller: Caller) -> None:
        """Mail a reset link to whoever has this username, email address or phone number, if anybody does.

        The worker finds out whether anybody does, so that the answer and its time are the same for all.
        """
        await self._limits.request_mail(f"reset:{identifier}", caller)
        asked = ResetAsked(identifier.strip()[:MAX_IDENTIFIER_LENGTH], secrets.token_urlsafe(16))
        async with self._deps.shards.of(digest(identifier)).begin() as tx:
            await self._deps.outbox.add(tx, asked)

    async def send_reset(self, asked: ResetAsked) -> None:
        """Mail the reset link, to a confirmed address only; a repeated event sends the same link."""
        account_id = await self._directory.find_by_any_name(asked.identifier)
        account = (await self._directory.find_many([account_id])).get(account_id) if account_id else None
        if account is None or account.status in {"suspended", "leaving"}:
            return
        async with self._deps.shards.owner(account.id).begin() as tx:
            details = await tx.fetch_one(QUERIES.find_private, id=account.id)
            if details is not None and details["email"]:
                await self._mail_queue.enqueue(
                    tx, account.id, "reset_password", details["email"], nonce=asked.nonce
                )

    async def reset_password(self, token: str, new: str) -> None:
        """Use a reset link: set a new password and end every session."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._deps.shards, account_id):
            raise LinkWrong
        shard, token_hash = self._deps.shards.owner(account_id), hash_token(token)
        if not await shard.fetch_one(QUERIES.find_mail_address, token_hash=token_hash, kind="reset_password"):
            raise LinkWrong
        new_hash = await self._hash_new(account_id, new)
        async with shard.begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            used = await tx.fetch_one(QUERIES.use_mail, token_hash=token_hash, kind="reset_password")
            if used is None:
                raise LinkWrong
            email = await tx.fetch_value(QUERIES.set_password, id=account_id, password_hash=new_hash)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="reset_password")
            await self._sessions.end_all_in(tx, account_id)
            if email:
                await self._mail_queue.enqueue(tx, account_id, "password_changed", email)
        log.info("password.reset", account_id=account_id)

    async def reauthenticate(
        self,
        token: str,
        session: AuthenticatedSession,
        *,
        password: str = "",
        code: str = "",
        passkey: dict[str, Any] | None = None,
    ) -> None:
        """Prove again who is signed in, by password, code or passkey; for some minutes credentials may be changed."""
        await self._limits.reauthenticate(session.account_id)
        if passkey is not None:
            await self._passkeys.verify_proof(passkey, account_id=session.account_id)
        elif code:
            await self._totp.use_code(session.account_id, code)
        else:
            await self._verify_password(session.account_id, password)
        await self._sessions.record_reauthentication(token, session.account_id)

    async def check_password(self, account_id: AccountId, password: str) -> None:
        """Raise `ProofWrong` for a wrong password, and `RateLimited` after too many attempts."""
        await self._limits.reauthenticate(account_id)
        await self._verify_password(account_id, password)

    async def _verify_password(self, account_id: AccountId, password: str) -> None:
        row = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_password, id=account_id)
        if not await self._deps.passwords.verify(row["password_hash"] if row else None, password):
            raise ProofWrong

    async def _hash_new(self, account_id: AccountId, new: str) -> str:
        account: Account = await self._directory.get(account_id)
        details = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        email = details["email"] if details else None
        await self._deps.passwords.check(new, own=[account.username, account.full_name, email or ""])
        return await self._deps.passwords.hash(new)
