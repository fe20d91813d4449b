"""Sign-in: by password, with a second factor where one is set up, or by a passkey alone.

A wrong name and a wrong password are refused in the same words after the same work. The need of a second factor is
revealed only to somebody who knows the password. Suspended people sign in too: their sessions serve to appeal and to
export their data. A sign-in from a new device is told by mail.
"""

from typing import TYPE_CHECKING, Any

from tintype.accounts.errors import (
    AccountLeaving,
    CredentialsWrong,
    Method,
    SecondFactorRequired,
    TicketWrong,
)
from tintype.accounts.models import Caller, SignedIn
from tintype.accounts.parts import AccountsParts
from tintype.accounts.status_rules import AccountState
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId
from tintype.base.log import get_log

if TYPE_CHECKING:
    from asyncpg import Record

log = get_log("accounts")


class SignIn:
    """Verifies credentials and starts sessions."""

    def __init__(self, parts: AccountsParts) -> None:
        self._deps, self._directory, self._sessions = parts.deps, parts.directory, parts.sessions
        self._challenges, self._limits = parts.challenges, parts.limits
        self._totp, self._passkeys = parts.totp, parts.passkeys
        self._devices, self._mail_queue, self._status = parts.devices, parts.mail_queue, parts.status

    async def by_password(self, identifier: str, password: str, caller: Caller) -> SignedIn:
        """Start a session, or raise `SecondFactorRequired` with a ticket for the second step."""
        account_id = await self._directory.find_by_any_name(identifier)
        await self._limits.sign_in(identifier, account_id, caller)
        row = await self._find_password(account_id, identifier)
        stored = row["password_hash"] if row else None
        is_correct = await self._deps.passwords.verify(stored, password)
        if account_id is None or stored is None or not is_correct:
            raise CredentialsWrong
        await self._limits.reset_sign_in(account_id, caller)
        if self._deps.passwords.needs_rehash(stored):
            await self._rehash(account_id, stored, password)
        methods = await self._second_factors(account_id)
        if methods:
            raise SecondFactorRequired(await self._challenges.create("second_factor", account_id), methods)
        return await self._start_session(account_id, caller)

    async def by_second_factor(
        self, ticket: str, caller: Caller, *, code: str = "", passkey: dict[str, Any] | None = None
    ) -> SignedIn:
        """Finish a sign-in that began with a password."""
        challenge = await self._challenges.find("second_factor", ticket)
        if challenge is None or challenge.account_id is None:
            raise TicketWrong
        account_id = challenge.account_id
        await self._limits.second_factor(account_id)
        details = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        changed_at = details["password_changed_at"] if details else None
        if details is None or (changed_at is not None and changed_at > challenge.created_at):
            raise TicketWrong
        if passkey is not None:
            await self._passkeys.verify_proof(passkey, account_id=account_id)
        else:
            await self._totp.use_code(account_id, code)
        if await self._challenges.consume("second_factor", ticket) is None:
            raise TicketWrong
        return await self._start_session(account_id, caller)

    async def by_passkey(self, answer: dict[str, Any], caller: Caller) -> SignedIn:
        """Start a session for whoever holds the passkey: it proves possession and person at once."""
        await self._limits.create_challenge(caller)
        return await self._start_session(await self._passkeys.verify_sign_in(answer), caller)

    async def passkey_options(self, caller: Caller) -> dict[str, Any]:
        """WebAuthn request options for signing in with any passkey of this site."""
        await self._limits.create_challenge(caller)
        return await self._passkeys.sign_in_options()

    async def second_factor_options(self, ticket: str) -> dict[str, Any]:
        """WebAuthn request options for a passkey as the second factor of this sign-in."""
        challenge = await self._challenges.find("second_factor", ticket)
        if challenge is None or challenge.account_id is None:
            raise TicketWrong
        return await self._passkeys.proof_options(challenge.account_id)

    async def _find_password(self, account_id: AccountId | None, identifier: str) -> "Record | None":
        # An unknown name costs a query on some shard as well, so that timing does not tell names apart.
        shards = self._deps.shards
        shard = shards.owner(account_id) if account_id else shards.of(identifier.encode(errors="replace"))
        return await shard.fetch_one(QUERIES.find_password, id=account_id or 0)

    async def _second_factors(self, account_id: AccountId) -> tuple[Method, ...]:
        details = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        if details is None or not details["has_totp"]:
            return ()
        methods: list[Method] = ["totp"]
        if details["recovery_code_count"]:
            methods.append("recovery_code")
        if details["passkey_count"]:
            methods.append("passkey")
        return tuple(methods)

    async def _start_session(self, account_id: AccountId, caller: Caller) -> SignedIn:
        async with self._deps.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if row is None:
                raise CredentialsWrong
            if row["status"] == "gone":
                raise AccountLeaving
            # Signing in reactivates the account and cancels its deletion; a suspension stays.
            state = AccountState(row["status"], row["status_after_suspension"])
            await self._status.change_in(tx, account_id, state, "sign_in")
            if await self._devices.record(tx, account_id, caller):
                await self._mail_queue.notify(tx, account_id, "new_sign_in", detail=caller.device)
            token = await self._sessions.start(tx, account_id, device=caller.device)
        await self._directory.invalidate(account_id)
        log.info("session.started", account_id=account_id)
        return SignedIn(await self._directory.get(account_id), token)

    async def _rehash(self, account_id: AccountId, stored: str, password: str) -> None:
        new_hash = await self._deps.passwords.hash(password)
        await self._deps.shards.owner(account_id).execute(
            QUERIES.rehash_password, id=account_id, password_hash=new_hash, old_hash=stored
        )
