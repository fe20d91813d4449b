"""Signing up, and accounts by username, over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, Response, get, post
from litestar.params import FromPath, JSONBody

from tintype.api.http import scopes
from tintype.api.http.dependencies import ClientInfo, InjectedAuthenticator, InjectedRooms, Viewer
from tintype.api.routes.sessions import Password
from tintype.api.views.accounts import AccountView, show_account
from tintype.api.views.sessions import SignedInView, show_signed_in

Name = Annotated[str, msgspec.Meta(max_length=100)]


class NewAccount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new account."""

    username: Name
    password: Password
    full_name: Name = ""
    email: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    """Used once it is confirmed with the link that is sent to it."""
    invitation: Annotated[str, msgspec.Meta(max_length=100)] = ""
    """The code of an invitation link; a site that is joined by invitation needs one."""


class AccountsApi(Controller):
    """Accounts."""

    path = "/api/v1"
    tags = ("Accounts",)

    @post("/accounts", summary="Sign up")
    async def sign_up(
        self,
        data: JSONBody[NewAccount],
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
        caller: ClientInfo,
    ) -> Response[SignedInView]:
        """Create an account and sign it in."""
        made = await rooms.accounts.join(
            data.username,
            data.password,
            full_name=data.full_name,
            email=data.email,
            invitation=data.invitation,
            caller=caller,
        )
        return Response(show_signed_in(made), cookies=authenticator.cookies(made))

    @get("/accounts/by-name/{username:str}", summary="A profile by username", scope=scopes.READ)
    async def by_name(self, username: FromPath[str], viewer: Viewer, rooms: InjectedRooms) -> AccountView:
        """One account, and whether the viewer follows it."""
        account = await rooms.accounts.get_by_name(username)
        seen = await rooms.visibility.get_account(viewer.id, account.id)
        return show_account(account, viewer_follows=seen.relation.follows)
