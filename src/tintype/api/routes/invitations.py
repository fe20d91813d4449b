"""Invitation links over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import JSONBody, PathParameter

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_id
from tintype.api.views.context import context_for
from tintype.api.views.invitations import (
    InvitationsView,
    InvitationView,
    InviterView,
    RegistrationView,
    show_invitation,
    show_inviter,
)
from tintype.base.settings import site_url

Code = Annotated[str, PathParameter(description="The code of an invitation link.", max_length=100)]


class NewInvitation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often a new link works, and for how many days."""

    max_uses: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    days: Annotated[int, msgspec.Meta(ge=1, le=90)] = 14


class InvitationsApi(Controller):
    """Invitation links, and who may join."""

    path = "/api/v1"
    tags = ("Accounts",)

    @get("/registration", summary="Who may join")
    async def registration(self, rooms: InjectedRooms) -> RegistrationView:
        """Whether everybody may create an account, whoever has an invitation, or nobody."""
        return RegistrationView(await rooms.accounts.registration())

    @get("/invitations", summary="Your invitation links", scope=scopes.READ)
    async def own(self, viewer: Viewer, rooms: InjectedRooms) -> InvitationsView:
        """The viewer's links that were not revoked, newest first, with how often each was used."""
        context, site = context_for(viewer, rooms), site_url(rooms.settings)
        found = await rooms.accounts.invitations.list_of(viewer.id)
        return InvitationsView([show_invitation(each, context, site) for each in found])

    @post("/invitations", summary="Make an invitation link", scope=scopes.ACCOUNT_WRITE)
    async def create(
        self, data: JSONBody[NewInvitation], viewer: Viewer, rooms: InjectedRooms
    ) -> InvitationView:
        """A link by which others can join. An account has at most 20 that work."""
        made = await rooms.accounts.invitations.create(viewer.id, max_uses=data.max_uses, days=data.days)
        return show_invitation(made, context_for(viewer, rooms), site_url(rooms.settings))

    @delete(
        "/invitations/{invitation_id:str}", summary="Revoke an invitation link", scope=scopes.ACCOUNT_WRITE
    )
    async def revoke(self, invitation_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Nobody can join by it any more; those who did stay."""
        await rooms.accounts.invitations.revoke(viewer.id, parse_id(invitation_id))

    @get("/invitations/by-code/{code:str}", summary="Who invites")
    async def inviter(self, code: Code, rooms: InjectedRooms) -> InviterView:
        """The account that made a link by which one can join now; for whoever holds the link, signed in or not."""
        found = await rooms.accounts.invitations.get_usable(code)
        return show_inviter(await rooms.accounts.get(found.inviter_id, with_counts=False))
