"""The front door of credentials: passwords and their resets, authenticators, passkeys, and reauthentication."""

import secrets
from typing import Any

from tintype.accounts.errors import LinkWrong
from tintype.accounts.events import ResetAsked
from tintype.accounts.models import Account, AuthenticatedSession, Caller, IdentityProof, Passkey
from tintype.accounts.parts import AccountsParts
from tintype.accounts.rate_limits import digest
from tintype.accounts.reauthentication import Reauthentication
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token
from tintype.base.ids import AccountId, has_shard
from tintype.base.jobs import Handler, on
from tintype.base.log import get_log
from tintype.base.rate_limits import MAIL_PER_NAME

MAX_IDENTIFIER_LENGTH = 300
log = get_log("accounts")


class Credentials:
    """Changes what somebody signs in with."""

    def __init__(self, parts: AccountsParts) -> None:
        self._deps, self._directory, self._sessions = parts.deps, parts.directory, parts.sessions
        self._mail_queue, self._limits = parts.mail_queue, parts.limits
        self._totp, self._passkeys = parts.totp, parts.passkeys
        self._reauthentication = Reauthentication(
            parts.deps, totp=parts.totp, passkeys=parts.passkeys, limits=parts.limits
        )

    # Passwords.

    async def change_password(
        self, session: AuthenticatedSession, current: str, new: str, *, keeps_tokens: bool = False
    ) -> None:
        """Set a new password; every other session ends, and API tokens unless they are kept."""
        account_id = session.account_id
        await self.check_password(account_id, current)
        new_hash = await self._hash_new(account_id, new)
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            email = await tx.fetch_value(QUERIES.set_password, id=account_id, password_hash=new_hash)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="reset_password")
            await self._sessions.end_others_in(tx, session, keeps_tokens=keeps_tokens)
            if email:
                await self._mail_queue.enqueue(tx, account_id, "password_changed", email)
        log.info("password.changed", account_id=account_id)

    async def request_password_reset(self, identifier: str, caller: Caller) -> None:
        """Mail a reset link to whoever has this username, email address or phone number, if anybody does.

        The worker finds out whether anybody does, so that the answer and its time are the same for all.
        """
        await self._limits.request_reset(identifier, caller)
        asked = ResetAsked(identifier.strip()[:MAX_IDENTIFIER_LENGTH], secrets.token_urlsafe(16))
        async with self._deps.shards.of(digest(identifier)).begin() as tx:
            await self._deps.outbox.add(tx, asked)

    async def send_password_reset(self, asked: ResetAsked) -> None:
        """Mail the reset link, to a confirmed address only; a repeated event sends the same link.

        An account gets few of them, by whichever of its names they were requested. Whoever asks is not told, so that
        nobody learns which names belong together.
        """
        account_id = await self._directory.find_by_any_name(asked.identifier)
        account = (await self._directory.find_many([account_id])).get(account_id) if account_id else None
        if account is None or account.status == "gone":
            return
        limit = self._deps.limiter.effective(MAIL_PER_NAME)
        async with self._deps.shards.owner(account.id).begin() as tx:
            held = await tx.fetch_one(QUERIES.lock_account, id=account.id)
            sent = await tx.fetch_value(
                QUERIES.count_other_mails,
                account_id=account.id,
                kind="reset_password",
                nonce=asked.nonce,
                within_s=float(limit.per_s),
            )
            is_allowed = limit.count == 0 or sent < limit.count
            if held is not None and held["email"] and is_allowed:
                await self._mail_queue.enqueue(
                    tx, account.id, "reset_password", held["email"], nonce=asked.nonce
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

    # Reauthentication.

    async def reauthenticate(self, token: str, session: AuthenticatedSession, proof: IdentityProof) -> None:
        """Prove again who is signed in; for some minutes credentials may be changed.

        By code or passkey where a second factor is set up, else also by password.
        """
        await self._reauthentication.prove(token, session, proof)

    async def require_proof(self, token: str, account_id: AccountId) -> None:
        """Raise `ProofNeeded` or `FactorNeeded` unless this session has a fresh proof of the kind that is needed."""
        await self._reauthentication.require(token, account_id)

    async def require_factor(self, token: str, account_id: AccountId) -> None:
        """Raise `FactorNeeded` where a second factor is set up and this session has no fresh proof of it."""
        await self._reauthentication.require_factor(token, account_id)

    async def check_password(self, account_id: AccountId, password: str) -> None:
        """Raise `ProofWrong` for a wrong password, and `RateLimited` after too many attempts."""
        await self._reauthentication.check_password(account_id, password)

    # Authenticators and passkeys.

    async def begin_totp_setup(self, account_id: AccountId, username: str) -> tuple[str, str, str]:
        """A new authenticator secret as text, link and QR code; it is enabled by `confirm_totp`."""
        return await self._totp.begin_setup(account_id, username)

    async def confirm_totp(self, account_id: AccountId, code: str) -> list[str]:
        """Enable the authenticator with a code of it; returns the recovery codes, shown this once."""
        await self._limits.reauthenticate(account_id)
        return await self._totp.confirm(account_id, code)

    async def disable_totp(self, account_id: AccountId) -> None:
        """Disable the authenticator and delete its recovery codes."""
        await self._totp.disable(account_id)

    async def renew_recovery_codes(self, account_id: AccountId) -> list[str]:
        """New recovery codes; the old ones stop working."""
        return await self._totp.renew_codes(account_id)

    async def passkey_creation_options(self, account: Account) -> dict[str, Any]:
        """WebAuthn creation options: what a browser needs to make a new passkey."""
        return await self._passkeys.creation_options(account)

    async def passkey_proof_options(self, account_id: AccountId) -> dict[str, Any]:
        """WebAuthn request options for reauthenticating with a passkey of this account."""
        return await self._passkeys.proof_options(account_id)

    async def add_passkey(self, account_id: AccountId, answer: dict[str, Any], *, name: str) -> Passkey:
        """Verify the browser's answer and store the new passkey."""
        return await self._passkeys.add(account_id, answer, name=name)

    async def list_passkeys(self, account_id: AccountId) -> list[Passkey]:
        """An account's passkeys, the oldest first."""
        return await self._passkeys.list(account_id)

    async def rename_passkey(self, account_id: AccountId, passkey_id: int, name: str) -> None:
        """Change the name its owner knows a passkey by."""
        await self._passkeys.rename(account_id, passkey_id, name)

    async def remove_passkey(self, account_id: AccountId, passkey_id: int) -> None:
        """Remove a passkey; it cannot be used any more."""
        await self._passkeys.remove(account_id, passkey_id)

    # Jobs.

    def handlers(self) -> list[Handler]:
        """The event handler that mails reset links."""
        return [on(ResetAsked, self.send_password_reset, name="accounts-reset")]

    async def _hash_new(self, account_id: AccountId, new: str) -> str:
        account: Account = await self._directory.get(account_id, with_counts=False)
        details = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        email = details["email"] if details else None
        await self._deps.passwords.check(new, own=[account.username, account.full_name, email or ""])
        return await self._deps.passwords.hash(new)
