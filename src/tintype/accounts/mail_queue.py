"""Outgoing mail: queued in the transaction that makes it necessary, sent by the worker.

A mail is sent once as far as can be known. Neither the outbox nor the table holds the secret of a mail's link: both
hold a nonce, from which the sender derives the secret with the installation's key. A repeated event derives the same
mail again, and skips it when it is marked as sent.
"""

import secrets
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import parseaddr
from typing import cast

from shardwright.routing import Transaction
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.events import MailWanted
from tintype.accounts.identifiers import email_key
from tintype.accounts.mail_templates import MailContent, MailKind, Notice, build_message, render_mail
from tintype.accounts.mailers import Mailer
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token, make_mail_token
from tintype.base.ids import AccountId
from tintype.base.log import get_log

LIFETIMES_S: dict[MailKind, float] = {"confirm_email": 86_400, "reset_password": 3_600}
NOTICE_LIFETIME_S = 86_400.0
MAX_DETAIL_LENGTH = 100
log = get_log("accounts")


class MailQueue:
    """Queues mails with a transaction, and sends them afterwards."""

    def __init__(self, deps: AccountsDependencies, mailer: Mailer) -> None:
        self._deps, self._mailer = deps, mailer

    def use_mailer(self, mailer: Mailer) -> None:
        """Send through this mailer from now on."""
        self._mailer = mailer

    async def enqueue(
        self,
        tx: Transaction,
        account_id: AccountId,
        kind: MailKind,
        address: str,
        *,
        nonce: str | None = None,
        detail: str = "",
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
            detail=detail[:MAX_DETAIL_LENGTH],
            ttl_s=float(LIFETIMES_S.get(kind, NOTICE_LIFETIME_S)),
        )
        await self._deps.outbox.add(tx, MailWanted(account_id, kind, nonce))

    async def notify(
        self, tx: Transaction, account_id: AccountId, notice: Notice, *, detail: str = ""
    ) -> None:
        """Tell the owner of an account of a change, at the confirmed address; without one, nobody is told."""
        email = await tx.fetch_value(QUERIES.find_email, id=account_id)
        if email:
            await self.enqueue(tx, account_id, notice, email, detail=detail)

    async def send(self, wanted: MailWanted) -> None:
        """Send a queued mail, unless it was sent already or has expired."""
        token = self._token(wanted.account_id, wanted.kind, wanted.nonce)
        shard, token_hash = self._deps.shards.owner(wanted.account_id), hash_token(token)
        row = await shard.fetch_one(QUERIES.find_unsent_mail, token_hash=token_hash)
        if row is None or row["expires_at"] < datetime.now(UTC):
            return
        kind = cast("MailKind", wanted.kind)
        if kind == "confirm_email" and await self._belongs_to_another(row["address"], wanted.account_id):
            kind, token = "already_here", ""
        content = render_mail(
            kind,
            username=row["username"],
            public_url=self._deps.public_url,
            token=token,
            detail=row["detail"],
        )
        await self._mailer.send(self._build(content, row["address"], wanted.nonce))
        await shard.execute(QUERIES.mark_mail_sent, token_hash=token_hash)
        log.info("mail.sent", account_id=wanted.account_id, kind=kind)

    def _build(self, content: MailContent, recipient: str, nonce: str) -> EmailMessage:
        sender = self._deps.settings.mail_from
        domain = parseaddr(sender)[1].rpartition("@")[2] or "localhost"
        name = hash_token(nonce).hex()[:32]  # the same at every attempt, so that mailboxes can drop repeats
        return build_message(content, sender=sender, recipient=recipient, message_id=f"<{name}@{domain}>")

    async def _belongs_to_another(self, address: str, account_id: AccountId) -> bool:
        holder = await self._deps.contact_claims.find_backed(email_key(address))
        return holder is not None and holder != account_id

    def _token(self, account_id: AccountId, kind: str, nonce: str) -> str:
        return make_mail_token(self._deps.secret_box, account_id, kind, nonce)
