"""Invitations: links that members give away, and by which others join.

A link's code is the short code of its id, which names the shard of the account that made it, and a secret. The secret
is stored as it is: its owner can copy the link again, and all it opens is a form for a new account.

A use is counted on the inviter's shard before the new account exists on another one, and confirmed by an event of the
new account's own transaction. A use that is never confirmed (the process died in between) is given back after a day.
"""

import hmac
import secrets

import msgspec

from shardwright.errors import InvalidId
from shardwright.ids import SHORT_LENGTH, decode_short, encode_short
from shardwright.routing import Transaction
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import AccountNotFound, InvitationNotFound, TooManyInvitations
from tintype.accounts.events import InvitationAccepted
from tintype.accounts.models import Invitation
from tintype.accounts.status import AccountStatus
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import INVITATION

MAX_LINKS = 20
"""Links of one account that work at a time."""
MAX_LISTED = 200
SECRET_BYTES = 9
CODE_LENGTH = SHORT_LENGTH + SECRET_BYTES * 4 // 3
log = get_log("accounts")


class UsableInvitation(msgspec.Struct, frozen=True):
    """A link by which somebody may join now."""

    id: int
    inviter_id: AccountId


class Invitations:
    """Makes, lists, revokes and uses invitation links."""

    def __init__(self, deps: AccountsDependencies, status: AccountStatus) -> None:
        self._deps, self._shards, self._status = deps, deps.shards, status

    async def create(self, account_id: AccountId, *, max_uses: int, days: int) -> Invitation:
        """A new link of this account; `TooManyInvitations` while it has 20 that still work."""
        await self._deps.limiter.acquire(INVITATION, account_id)
        async with self._shards.owner(account_id).begin() as tx:
            if await self._status.lock(tx, account_id) is None:
                raise AccountNotFound
            row = await tx.fetch_one(
                QUERIES.add_invitation,
                account_id=account_id,
                secret=secrets.token_urlsafe(SECRET_BYTES),
                max_uses=max_uses,
                days=days,
                limit=MAX_LINKS,
            )
        if row is None:
            raise TooManyInvitations
        log.info("invitation.created", account_id=account_id, invitation_id=row["id"])
        return Invitation(**row)

    async def list_of(self, account_id: AccountId) -> list[Invitation]:
        """The links of an account that were not revoked, newest first."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_invitations, account_id=account_id, limit=MAX_LISTED
        )
        return [Invitation(**row) for row in rows]

    async def revoke(self, account_id: AccountId, invitation_id: int) -> None:
        """Nobody can join by this link any more; `InvitationNotFound` if the account has no such link."""
        revoked = None
        if has_shard(self._shards, invitation_id):
            revoked = await self._shards.owner(invitation_id).fetch_value(
                QUERIES.revoke_invitation, id=invitation_id, account_id=account_id
            )
        if revoked is None:
            raise InvitationNotFound
        log.info("invitation.revoked", account_id=account_id, invitation_id=invitation_id)

    async def get_usable(self, code: str) -> UsableInvitation:
        """The link with this code, if somebody may join by it now; `InvitationNotFound` otherwise."""
        invitation_id, secret = _parse(code)
        if not has_shard(self._shards, invitation_id):
            raise InvitationNotFound
        row = await self._shards.owner(invitation_id).fetch_one(QUERIES.find_invitation, id=invitation_id)
        if row is None or not hmac.compare_digest(row["secret"], secret) or not row["is_usable"]:
            raise InvitationNotFound
        return UsableInvitation(invitation_id, AccountId(row["account_id"]))

    async def claim(self, invitation: UsableInvitation, invitee: AccountId) -> None:
        """Count a use for an account that is about to be created; `InvitationNotFound` if none is left."""
        async with self._shards.owner(invitation.id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_invitation, id=invitation.id)
            row = await tx.fetch_one(QUERIES.find_invitation, id=invitation.id)
            if row is None or not row["is_usable"]:
                raise InvitationNotFound
            await tx.execute(
                QUERIES.claim_invitation,
                account_id=invitation.inviter_id,
                invitee_id=invitee,
                invitation_id=invitation.id,
            )

    async def release(self, invitation: UsableInvitation, invitee: AccountId) -> None:
        """Give a use back: the account was not created."""
        await self._shards.owner(invitation.id).execute(
            QUERIES.release_invitation, account_id=invitation.inviter_id, invitee_id=invitee
        )

    async def record(self, tx: Transaction, invitation: UsableInvitation, invitee: AccountId) -> None:
        """Record the inviter of an account in the transaction that creates it."""
        await tx.execute(QUERIES.add_inviter, account_id=invitee, inviter_id=invitation.inviter_id)
        await self._deps.outbox.add(tx, InvitationAccepted(invitee, invitation.inviter_id, invitation.id))

    async def confirm(self, accepted: InvitationAccepted) -> None:
        """The inviter's side of an account that has joined; one that was erased meanwhile leaves no trace."""
        if await self.find_inviter(accepted.account_id) != accepted.inviter_id:
            return
        await self._shards.owner(accepted.inviter_id).execute(
            QUERIES.confirm_invitee,
            account_id=accepted.inviter_id,
            invitee_id=accepted.account_id,
            invitation_id=accepted.invitation_id,
        )

    async def find_inviter(self, account_id: AccountId) -> AccountId | None:
        """By whose link this account joined; None if by nobody's."""
        found = await self._shards.owner(account_id).fetch_value(QUERIES.find_inviter, account_id=account_id)
        return AccountId(found) if found is not None else None


def invitation_code(invitation: Invitation) -> str:
    """The code that a link carries."""
    return encode_short(invitation.id) + invitation.secret


def _parse(code: str) -> tuple[int, str]:
    if len(code) != CODE_LENGTH or not code.isascii():
        raise InvitationNotFound
    try:
        return decode_short(code[:SHORT_LENGTH]), code[SHORT_LENGTH:]
    except InvalidId as error:
        raise InvitationNotFound from error
