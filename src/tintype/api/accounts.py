"""Sign-up and profiles over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, Response, delete, get, post, put
from litestar.params import FromPath, JSONBody

from tintype.api import scopes
from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.given import CallerInfo, Cursor, House, Limit, PathId, SessionReader, Viewer, id_from
from tintype.api.sessions import Password, SignedInView
from tintype.api.views import AccountView, PostsView, show_account, show_post
from tintype.base.ids import AccountId

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

    @get("/accounts/{account_id:str}/posts", summary="An account's posts")
    async def posts_of(
        self, account_id: PathId, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 12
    ) -> PostsView:
        """Newest first."""
        author = await rooms.accounts.get(AccountId(id_from(account_id)))
        ids = await rooms.posts.page_of_author(author.id, before=decode_cursor(cursor), limit=limit + 1)
        found = await rooms.posts.find_many(ids[:limit], viewer=viewer.id)
        has_more = len(ids) > limit
        shown = [
            show_post(found[each], author, rooms.shards.map.layout) for each in ids[:limit] if each in found
        ]
        return PostsView(shown, encode_cursor(ids[limit - 1]) if has_more else None, has_more)

    @put("/accounts/{account_id:str}/follow", summary="Follow", status_code=204)
    async def follow(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Follow somebody; asking twice is the same as asking once."""
        await rooms.graph.follow(viewer.id, AccountId(id_from(account_id)))

    @delete("/accounts/{account_id:str}/follow", summary="Unfollow")
    async def unfollow(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Cease to follow somebody, effective at once."""
        await rooms.graph.unfollow(viewer.id, AccountId(id_from(account_id)))
