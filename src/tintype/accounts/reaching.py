"""How somebody can be reached. An email address counts once its owner has followed a link that was sent to it.

So nobody can occupy an address that is not theirs, and asking for one that belongs to somebody else gets the same
answer as any other: only the mailbox learns the difference.
"""

from tintype.accounts.contacts import check_email, check_phone, email_key, phone_key
from tintype.accounts.doors import Doors
from tintype.accounts.errors import LinkWrong, PhoneTaken
from tintype.accounts.ground import Ground
from tintype.accounts.mailing import Mailing
from tintype.accounts.models import Caller
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log

log = get_log("accounts")


class Reaching:
    """Adds, confirms and removes addresses and numbers."""

    def __init__(self, ground: Ground, mailing: Mailing, doors: Doors) -> None:
        self._ground, self._mailing, self._doors = ground, mailing, doors

    async def ask(self, account_id: AccountId, email: str, caller: Caller) -> None:
        """Send a link to an address; it counts once the link was followed."""
        address = check_email(email)
        await self._doors.ask_for_mail(address, caller)
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.set_pending_email, id=account_id, email=address)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="confirm_email")
            await self._mailing.want(tx, account_id, "confirm_email", address)

    async def confirm(self, token: str) -> None:
        """Follow the link: the address is this account's from now on."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._ground.shards, account_id):
            raise LinkWrong
        shard, token_hash = self._ground.shards.owner(account_id), hash_token(token)
        address = await shard.fetch_value(QUERIES.look_at_mail, token_hash=token_hash, kind="confirm_email")
        claimed_at = await self._ground.keys.make(email_key(address), account_id) if address else None
        if claimed_at is None:
            raise LinkWrong
        async with shard.begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            used = await tx.fetch_one(QUERIES.use_mail, token_hash=token_hash, kind="confirm_email")
            if before is None or used is None:
                raise LinkWrong
            if (
                await tx.fetch_one(QUERIES.set_email, id=account_id, email=address, claimed_at=claimed_at)
                is None
            ):
                raise Unavailable
            if before["email"] and before["email"] != address:
                await self._mailing.want(tx, account_id, "email_changed", before["email"])
        if before["email"] and before["email"] != address:
            await self._ground.keys.release(email_key(before["email"]), account_id)
        log.info("email.confirmed", account_id=account_id)

    async def drop(self, account_id: AccountId) -> None:
        """No address any more."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            await tx.execute(QUERIES.drop_email, id=account_id)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="confirm_email")
            if before and before["email"]:
                await self._mailing.want(tx, account_id, "email_changed", before["email"])
        if before and before["email"]:
            await self._ground.keys.release(email_key(before["email"]), account_id)

    async def set_phone(self, account_id: AccountId, phone: str | None) -> None:
        """A number that no other account has, or none. How often it may be tried is limited: it tells."""
        number = check_phone(phone) if phone else None
        claimed_at = None
        if number is not None:
            await self._doors.claim(account_id)
            claimed_at = await self._ground.keys.make(phone_key(number), account_id)
            if claimed_at is None:
                raise PhoneTaken
        async with self._ground.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if number is None:
                await tx.execute(QUERIES.drop_phone, id=account_id)
            elif not await tx.fetch_one(
                QUERIES.set_phone, id=account_id, phone=number, claimed_at=claimed_at
            ):
                raise Unavailable
        if before and before["phone"] and before["phone"] != number:
            await self._ground.keys.release(phone_key(before["phone"]), account_id)
