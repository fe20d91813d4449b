"""Sign-up, sessions and profiles over HTTP."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, delete, get, post
from litestar.params import FromPath, JSONBody

from tintype.api.given import House, SessionReader, Viewer
from tintype.api.views import AccountView, show_account

Name = Annotated[str, msgspec.Meta(max_length=100)]
Password = Annotated[str, msgspec.Meta(max_length=1024)]


class SignUp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new account."""

    username: Name
    password: Password
    full_name: Name = ""


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name and the password that belongs to it."""

    username: Name
    password: Password


class SignedInView(msgspec.Struct, frozen=True):
    """The account, and the token for programs; browsers have it as a cookie."""

    account: AccountView
    token: str


class AccountsApi(Controller):
    """People and their sessions."""

    path = "/api/v1"
    tags = ("Accounts",)

    @post("/accounts", summary="Sign up")
    async def sign_up(
        self, data: JSONBody[SignUp], rooms: House, sessions: SessionReader
    ) -> Response[SignedInView]:
        """Create an account and sign it in."""
        made = await rooms.accounts.sign_up(data.username, data.password, full_name=data.full_name)
        return Response(SignedInView(show_account(made.account), made.token), cookies=sessions.cookies(made))

    @post("/sessions", summary="Log in")
    async def sign_in(
        self, data: JSONBody[Credentials], rooms: House, sessions: SessionReader
    ) -> Response[SignedInView]:
        """Start a session."""
        made = await rooms.accounts.sign_in(data.username, data.password)
        return Response(SignedInView(show_account(made.account), made.token), cookies=sessions.cookies(made))

    @delete("/sessions/current", summary="Log out")
    async def sign_out(
        self, request: Request[Any, Any, Any], rooms: House, sessions: SessionReader
    ) -> Response[None]:
        """End this session."""
        await sessions.viewer(request)
        await rooms.accounts.sign_out(sessions.token(request))
        return Response(None, status_code=204, cookies=sessions.no_cookies())

    @get("/accounts/me", summary="Who am I")
    async def me(self, viewer: Viewer) -> AccountView:
        """The account of this session."""
        return show_account(viewer)

    @get("/accounts/by-name/{username:str}", summary="A profile by username")
    async def by_name(self, username: FromPath[str], viewer: Viewer, rooms: House) -> AccountView:
        """One account, and whether the viewer follows it."""
        account = await rooms.accounts.get_by_name(username)
        followed = await rooms.graph.which_followed(viewer.id, [account.id])
        return show_account(account, viewer_follows=account.id in followed)
