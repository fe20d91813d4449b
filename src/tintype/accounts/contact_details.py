"""Email address and phone number of an account.

An email address counts only once its owner has followed a link sent to it. So nobody can occupy an address that is not
theirs, and asking for an address that belongs to somebody else gets the same answer as any other: only the mailbox
learns the difference.
"""

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import LinkWrong, PhoneTaken
from tintype.accounts.identifiers import check_email, check_phone, email_key, phone_key
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.models import Caller
from tintype.accounts.rate_limits import AuthRateLimits
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log

log = get_log("accounts")


class ContactDetails:
    """Sets, confirms and removes email addresses and phone numbers."""

    def __init__(self, deps: AccountsDependencies, mail_queue: MailQueue, limits: AuthRateLimits) -> None:
        self._deps, self._mail_queue, self._limits = deps, mail_queue, limits

    async def request_email(self, account_id: AccountId, email: str, caller: Caller) -> None:
        """Send a confirmation link to an address; it counts once the link was followed."""
        address = check_email(email)
        await self._limits.request_confirmation(address, account_id, caller)
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.set_pending_email, id=account_id, email=address)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="confirm_email")
            await self._mail_queue.enqueue(tx, account_id, "confirm_email", address)

    async def confirm_email(self, token: str) -> None:
        """Use the link of a confirmation mail: from now on the address belongs to this account."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._deps.shards, account_id):
            raise LinkWrong
        shard, token_hash = self._deps.shards.owner(account_id), hash_token(token)
        address = await shard.fetch_value(
            QUERIES.find_mail_address, token_hash=token_hash, kind="confirm_email"
        )
        claims = self._deps.contact_claims
        claimed_at = await claims.acquire(email_key(address), account_id) if address else None
        if claimed_at is None:
            raise LinkWrong
        async with shard.begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            used = await tx.fetch_one(QUERIES.use_mail, token_hash=token_hash, kind="confirm_email")
            if before is None or used is None:
                raise LinkWrong
            updated = await tx.fetch_one(
                QUERIES.set_email, id=account_id, email=address, claimed_at=claimed_at
            )
            if updated is None:
                raise Unavailable
            if before["email"] and before["email"] != address:
                await self._mail_queue.enqueue(tx, account_id, "email_changed", before["email"])
        if before["email"] and before["email"] != address:
            await claims.release(email_key(before["email"]), account_id)
        log.info("email.confirmed", account_id=account_id)

    async def remove_email(self, account_id: AccountId) -> None:
        """The account has no email address any more, confirmed or pending."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            await tx.execute(QUERIES.remove_email, id=account_id)
            await tx.execute(QUERIES.void_mails, account_id=account_id, kind="confirm_email")
            if before and before["email"]:
                await self._mail_queue.enqueue(tx, account_id, "email_changed", before["email"])
        if before and before["email"]:
            await self._deps.contact_claims.release(email_key(before["email"]), account_id)

    async def set_phone(self, account_id: AccountId, phone: str | None) -> None:
        """Set a number that no other account has, or remove it; attempts are limited, because a refusal reveals."""
        number = check_phone(phone) if phone else None
        claimed_at = None
        if number is not None:
            await self._limits.claim_phone(account_id)
            claimed_at = await self._deps.contact_claims.acquire(phone_key(number), account_id)
            if claimed_at is None:
                raise PhoneTaken
        async with self._deps.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if number is None:
                await tx.execute(QUERIES.remove_phone, id=account_id)
            elif not await tx.fetch_one(
                QUERIES.set_phone, id=account_id, phone=number, claimed_at=claimed_at
            ):
                raise Unavailable
            if before and before["phone"] != number:
                await self._mail_queue.notify(tx, account_id, "phone_changed")
        if before and before["phone"] and before["phone"] != number:
            await self._deps.contact_claims.release(phone_key(before["phone"]), account_id)
