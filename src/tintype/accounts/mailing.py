"""Mails: wanted in the transaction that makes them necessary, sent by the worker, each once as far as can be known.

Neither the outbox nor the table holds the secret that a mail carries: both know a nonce, and whoever sends the mail
makes the secret from it with the installation's key. A repeated event makes the same mail again, and skips it when it
was marked as sent.
"""

import secrets
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import parseaddr
from typing import cast

from shardwright.running import Transaction
from tintype.accounts.contacts import email_key
from tintype.accounts.events import MailWanted
from tintype.accounts.ground import Ground
from tintype.accounts.letters import Kind, Letter, make_message, write_letter
from tintype.accounts.mailers import Mailer
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token, make_mail_token
from tintype.base.ids import AccountId
from tintype.base.log import get_log

LIFETIMES_S: dict[Kind, float] = {"confirm_email": 86_400, "reset_password": 3_600}
NOTICE_S = 86_400.0
log = get_log("accounts")


class Mailing:
    """Wants mails, and sends them."""

    def __init__(self, ground: Ground, mailer: Mailer) -> None:
        self._ground, self._mailer = ground, mailer

    def use_mailer(self, mailer: Mailer) -> None:
        """Send through this one from now on."""
        self._mailer = mailer

    async def want(
        self, tx: Transaction, account_id: AccountId, kind: Kind, address: str, *, nonce: str | None = None
    ) -> None:
        """Send a mail to this address once this transaction has committed."""
        nonce = nonce or secrets.token_urlsafe(16)
        await tx.execute(
            QUERIES.add_mail,
            token_hash=hash_token(self._token(account_id, kind, nonce)),
            account_id=account_id,
            kind=kind,
            address=address,
            nonce=nonce,
            ttl_s=float(LIFETIMES_S.get(kind, NOTICE_S)),
        )
        await self._ground.outbox.add(tx, MailWanted(account_id, kind, nonce))

    async def send(self, wanted: MailWanted) -> None:
        """Send it, unless it was sent or is too old to be of use."""
        token = self._token(wanted.account_id, wanted.kind, wanted.nonce)
        shard, token_hash = self._ground.shards.owner(wanted.account_id), hash_token(token)
        row = await shard.fetch_one(QUERIES.find_mail, token_hash=token_hash)
        if row is None or row["expires_at"] < datetime.now(UTC):
            return
        kind = cast("Kind", wanted.kind)
        if kind == "confirm_email" and await self._belongs_to_another(row["address"], wanted.account_id):
            kind, token = "already_here", ""
        letter = write_letter(kind, username=row["username"], address=self._ground.address, token=token)
        await self._mailer.send(self._address(letter, row["address"], wanted.nonce))
        await shard.execute(QUERIES.mark_mail_sent, token_hash=token_hash)
        log.info("mail.sent", account_id=wanted.account_id, kind=kind)

    def _address(self, letter: Letter, recipient: str, nonce: str) -> EmailMessage:
        sender = self._ground.settings.mail_from
        domain = parseaddr(sender)[1].rpartition("@")[2] or "localhost"
        name = hash_token(nonce).hex()[:32]  # the same at every try, so that mailboxes can tell
        return make_message(letter, sender=sender, recipient=recipient, message_id=f"<{name}@{domain}>")

    async def _belongs_to_another(self, address: str, account_id: AccountId) -> bool:
        holder = await self._ground.keys.find_backed(email_key(address))
        return holder is not None and holder != account_id

    def _token(self, account_id: AccountId, kind: str, nonce: str) -> str:
        return make_mail_token(self._ground.vault, account_id, kind, nonce)
