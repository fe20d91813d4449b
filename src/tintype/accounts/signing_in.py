"""Sign-in: by password, with a second factor where one is set up, or by a passkey alone.

A wrong name and a wrong password are refused in the same words after the same work. What else there is to say (a
suspension, a second factor) is said only to somebody who knows the password.
"""

from typing import TYPE_CHECKING, Any

from tintype.accounts.challenges import Challenges
from tintype.accounts.directory import Directory
from tintype.accounts.doors import Doors
from tintype.accounts.errors import (
    AccountLeaving,
    AccountSuspended,
    CredentialsWrong,
    Method,
    SecondFactorRequired,
    TicketWrong,
)
from tintype.accounts.events import StatusChanged
from tintype.accounts.ground import Ground
from tintype.accounts.models import Caller, SignedIn
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.accounts.totp import Totp
from tintype.base.ids import AccountId
from tintype.base.log import get_log

if TYPE_CHECKING:
    from asyncpg import Record

log = get_log("accounts")


class SigningIn:
    """Lets people in."""

    def __init__(
        self,
        ground: Ground,
        directory: Directory,
        sessions: Sessions,
        *,
        totp: Totp,
        passkeys: Passkeys,
        challenges: Challenges,
        doors: Doors,
    ) -> None:
        self._ground, self._directory, self._sessions = ground, directory, sessions
        self._totp, self._passkeys, self._challenges, self._doors = totp, passkeys, challenges, doors

    async def by_password(self, identifier: str, password: str, caller: Caller) -> SignedIn:
        """Start a session, or ask for a second factor by raising `SecondFactorRequired`."""
        account_id = await self._directory.find_by_any_name(identifier)
        await self._doors.sign_in(identifier, account_id, caller)
        row = await self._find_password(account_id, identifier)
        stored = row["password_hash"] if row else None
        is_right = await self._ground.passwords.is_right(stored, password)
        if account_id is None or stored is None or not is_right:
            raise CredentialsWrong
        await self._doors.signed_in(identifier, caller)
        if self._ground.passwords.needs_rehash(stored):
            await self._rehash(account_id, stored, password)
        methods = await self._methods(account_id)
        if methods:
            raise SecondFactorRequired(await self._challenges.ask("second_factor", account_id), methods)
        return await self._enter(account_id, caller)

    async def by_second_factor(
        self, ticket: str, caller: Caller, *, code: str = "", passkey: dict[str, Any] | None = None
    ) -> SignedIn:
        """Finish a sign-in that began with a password."""
        asked = await self._challenges.find("second_factor", ticket)
        if asked is None or asked.account_id is None:
            raise TicketWrong
        account_id = asked.account_id
        await self._doors.second_factor(account_id)
        details = await self._ground.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        changed_at = details["password_changed_at"] if details else None
        if details is None or (changed_at is not None and changed_at > asked.created_at):
            raise TicketWrong
        if passkey is not None:
            await self._passkeys.check_answer(passkey, account_id=account_id)
        else:
            await self._totp.use_code(account_id, code)
        if await self._challenges.take("second_factor", ticket) is None:
            raise TicketWrong
        return await self._enter(account_id, caller)

    async def by_passkey(self, answer: dict[str, Any], caller: Caller) -> SignedIn:
        """Start a session for whoever holds the key: it proves possession and person at once."""
        await self._doors.ask(caller)
        return await self._enter(await self._passkeys.check_sign_in(answer), caller)

    async def passkey_options(self, caller: Caller) -> dict[str, Any]:
        """What to ask any passkey of this site."""
        await self._doors.ask(caller)
        return await self._passkeys.ask_sign_in()

    async def ticket_options(self, ticket: str) -> dict[str, Any]:
        """What a passkey is asked as the second factor of this sign-in."""
        asked = await self._challenges.find("second_factor", ticket)
        if asked is None or asked.account_id is None:
            raise TicketWrong
        return await self._passkeys.ask_proof(asked.account_id)

    async def _find_password(self, account_id: AccountId | None, identifier: str) -> "Record | None":
        # Somebody unknown is looked for on some shard too: the same number of questions, whoever it is.
        shards = self._ground.shards
        shard = shards.owner(account_id) if account_id else shards.of(identifier.encode(errors="replace"))
        return await shard.fetch_one(QUERIES.find_password, id=account_id or 0)

    async def _methods(self, account_id: AccountId) -> tuple[Method, ...]:
        details = await self._ground.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        if details is None or not details["has_totp"]:
            return ()
        methods: list[Method] = ["totp"]
        if details["recovery_code_count"]:
            methods.append("recovery_code")
        if details["passkey_count"]:
            methods.append("passkey")
        return tuple(methods)

    async def _enter(self, account_id: AccountId, caller: Caller) -> SignedIn:
        async with self._ground.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if row is None:
                raise CredentialsWrong
            if row["status"] == "suspended":
                raise AccountSuspended
            if row["status"] == "gone":
                raise AccountLeaving
            if row["status"] in {"deactivated", "leaving"}:  # who comes back stays
                await tx.execute(QUERIES.set_status, id=account_id, status="active")
                await self._ground.outbox.add(tx, StatusChanged(account_id, "active"))
            token = await self._sessions.start(tx, account_id, device=caller.device)
        await self._directory.forget(account_id)
        log.info("session.started", account_id=account_id)
        return SignedIn(await self._directory.get(account_id), token)

    async def _rehash(self, account_id: AccountId, stored: str, password: str) -> None:
        fresh = await self._ground.passwords.hash(password)
        await self._ground.shards.owner(account_id).execute(
            QUERIES.rehash_password, id=account_id, password_hash=fresh, old_hash=stored
        )
