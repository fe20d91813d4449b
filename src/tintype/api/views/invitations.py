"""Invitation links, and who may join."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.accounts import Account, Invitation, invitation_code
from tintype.api.views.context import ViewContext
from tintype.api.views.people import AuthorView, show_author


class RegistrationView(msgspec.Struct, frozen=True):
    """Who may create an account: everybody, whoever has an invitation, or nobody."""

    registration: Literal["open", "invitation", "closed"]


class InvitationView(msgspec.Struct, frozen=True):
    """A link by which others can join, for the account that made it."""

    invitation_id: str
    code: str
    url: str
    max_uses: int
    use_count: int
    created_at: datetime
    expires_at: datetime


class InvitationsView(msgspec.Struct, frozen=True):
    """The viewer's invitation links, newest first."""

    invitations: list[InvitationView]


class InviterView(msgspec.Struct, frozen=True):
    """Who invites whoever holds a link."""

    inviter: AuthorView


def show_invitation(invitation: Invitation, context: ViewContext, site: str) -> InvitationView:
    """A link for its owner; `site` is the address of this installation."""
    code = invitation_code(invitation)
    return InvitationView(
        invitation_id=str(invitation.id),
        code=code,
        url=f"{site}/join?invitation={code}",
        max_uses=invitation.max_uses,
        use_count=invitation.use_count,
        created_at=context.layout.id_time(invitation.id),
        expires_at=invitation.expires_at,
    )


def show_inviter(account: Account) -> InviterView:
    """The account behind a link, as everybody may see it."""
    return InviterView(show_author(account))
