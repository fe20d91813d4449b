"""Passwords changed and forgotten, and proving once more who one is."""

import secrets
from typing import Any

from tintype.accounts.directory import Directory
from tintype.accounts.doors import Doors, digest
from tintype.accounts.errors import LinkWrong, ProofWrong
from tintype.accounts.events import ResetAsked
from tintype.accounts.ground import Ground
from tintype.accounts.mailing import Mailing
from tintype.accounts.models import Account, Caller, Pass
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token
from tintype.accounts.totp import Totp
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log

LONGEST_IDENTIFIER = 300
log = get_log("accounts")


class Credentials:
    """Changes what somebody signs in with."""

    def __init__(
        self,
        ground: Ground,
        directory: Directory,
        sessions: Sessions,
        *,
        mailing: Mailing,
        totp: Totp,
        passkeys: Passkeys,
        doors: Doors,
    ) -> None:
        self._ground, self._directory, self._sessions = ground, directory, sessions
        self._mailing, self._totp, self._passkeys, self._doors = mailing, totp, passkeys, doors

    async def change_password(self, held: Pass, current: str, new: str) -> None:
        """A new password; every other session ends, this one stays."""
        account_id = held.account_id
        await self.check_password(account_id, current)
        fresh = await self._hash_new(account_id, new)
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            email = await tx.fetch_value(QUERIES.set_password, id=account_id, password_hash=fresh)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="reset_password")
            await self._sessions.end_others_in(tx, held)
            if email:
                await self._mailing.want(tx, account_id, "password_changed", email)
        log.info("password.changed", account_id=account_id)

    async def ask_reset(self, identifier: str, caller: Caller) -> None:
        """Send a link to whoever goes by this name, if anybody does.

        Whether somebody does is found out by the worker, so that the answer and its time are the same for all.
        """
        await self._doors.ask_for_mail(f"reset:{identifier}", caller)
        asked = ResetAsked(identifier.strip()[:LONGEST_IDENTIFIER], secrets.token_urlsafe(16))
        async with self._ground.shards.of(digest(identifier)).begin() as tx:
            await self._ground.outbox.add(tx, asked)

    async def send_reset(self, asked: ResetAsked) -> None:
        """Send the link, to a confirmed address only; the same one when the event comes again."""
        account_id = await self._directory.find_by_any_name(asked.identifier)
        account = (await self._directory.find_many([account_id])).get(account_id) if account_id else None
        if account is None or account.status in {"suspended", "leaving"}:
            return
        async with self._ground.shards.owner(account.id).begin() as tx:
            details = await tx.fetch_one(QUERIES.find_private, id=account.id)
            if details is not None and details["email"]:
                await self._mailing.want(
                    tx, account.id, "reset_password", details["email"], nonce=asked.nonce
                )

    async def reset_password(self, token: str, new: str) -> None:
        """Use the link: a new password, and everybody who was signed in is signed out."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._ground.shards, account_id):
            raise LinkWrong
        shard, token_hash = self._ground.shards.owner(account_id), hash_token(token)
        if not await shard.fetch_one(QUERIES.look_at_mail, token_hash=token_hash, kind="reset_password"):
            raise LinkWrong
        fresh = await self._hash_new(account_id, new)
        async with shard.begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            used = await tx.fetch_one(QUERIES.use_mail, token_hash=token_hash, kind="reset_password")
            if used is None:
                raise LinkWrong
            email = await tx.fetch_value(QUERIES.set_password, id=account_id, password_hash=fresh)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="reset_password")
            await self._sessions.end_all_in(tx, account_id)
            if email:
                await self._mailing.want(tx, account_id, "password_changed", email)
        log.info("password.reset", account_id=account_id)

    async def prove(
        self,
        token: str,
        held: Pass,
        *,
        password: str = "",
        code: str = "",
        passkey: dict[str, Any] | None = None,
    ) -> None:
        """Open the window in which credentials may be changed: by password, code or passkey."""
        await self._doors.prove(held.account_id)
        if passkey is not None:
            await self._passkeys.check_answer(passkey, account_id=held.account_id)
        elif code:
            await self._totp.use_code(held.account_id, code)
        else:
            await self._is_right_or_refuse(held.account_id, password)
        await self._sessions.prove(token, held.account_id)

    async def count_proof(self, account_id: AccountId) -> None:
        """A code is about to be tried: not too often."""
        await self._doors.prove(account_id)

    async def check_password(self, account_id: AccountId, password: str) -> None:
        """Refuse a wrong one, and too many tries."""
        await self._doors.prove(account_id)
        await self._is_right_or_refuse(account_id, password)

    async def _is_right_or_refuse(self, account_id: AccountId, password: str) -> None:
        row = await self._ground.shards.owner(account_id).fetch_one(QUERIES.find_password, id=account_id)
        if not await self._ground.passwords.is_right(row["password_hash"] if row else None, password):
            raise ProofWrong

    async def _hash_new(self, account_id: AccountId, new: str) -> str:
        account: Account = await self._directory.get(account_id)
        details = await self._ground.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        email = details["email"] if details else None
        await self._ground.passwords.check(new, own=[account.username, account.full_name, email or ""])
        return await self._ground.passwords.hash(new)
