"""Sign-up and profiles over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, Response, get, post
from litestar.params import FromPath, JSONBody

from tintype.api import scopes
from tintype.api.given import CallerInfo, House, SessionReader, Viewer
from tintype.api.sessions import Password, SignedInView
from tintype.api.views import AccountView, show_account

Name = Annotated[str, msgspec.Meta(max_length=100)]


class SignUp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new account."""

    username: Name
    password: Password
    full_name: Name = ""
    email: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    """Counts once the link that is sent to it was followed."""


class AccountsApi(Controller):
    """People."""

    path = "/api/v1"
    tags = ("Accounts",)

    @post("/accounts", summary="Sign up")
    async def sign_up(
        self, data: JSONBody[SignUp], rooms: House, sessions: SessionReader, caller: CallerInfo
    ) -> Response[SignedInView]:
        """Create an account and sign it in."""
        made = await rooms.accounts.sign_up(
            data.username, data.password, full_name=data.full_name, email=data.email, caller=caller
        )
        return Response(SignedInView(show_account(made.account), made.token), cookies=sessions.cookies(made))

    @get("/accounts/by-name/{username:str}", summary="A profile by username", scope=scopes.READ)
    async def by_name(self, username: FromPath[str], viewer: Viewer, rooms: House) -> AccountView:
        """One account, and whether the viewer follows it."""
        account = await rooms.accounts.get_by_name(username)
        seen = await rooms.sight.get(viewer.id, account.id)
        return show_account(seen.account, viewer_follows=seen.relation.follows)
