"""Follows, blocks, mutes, close friends and restrictions over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, PathId, Viewer, parse_account_id
from tintype.api.views.people import RelationView, show_relation


class MuteChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to mute of an account; what is left out stays."""

    posts: Annotated[bool | None, msgspec.Meta(description="Hide their posts from the feed.")] = None
    stories: Annotated[bool | None, msgspec.Meta(description="Hide their stories.")] = None


class BlockedName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The username of somebody to block."""

    username: Annotated[str, msgspec.Meta(max_length=100)]


class GraphApi(Controller):
    """How the viewer relates to others. Every change is safe to repeat."""

    path = "/api/v1"
    tags = ("Graph",)

    @get("/accounts/{account_id:str}/relation", summary="My relation to an account", scope=scopes.READ)
    async def relation(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> RelationView:
        """How the viewer is related to an account: follows, blocks, mutes and so on."""
        person = await rooms.visibility.get_account(viewer.id, parse_account_id(account_id))
        return show_relation(person.relation)

    @put(
        "/accounts/{account_id:str}/follow",
        summary="Follow",
        status_code=204,
        scope=scopes.GRAPH_WRITE,
        lean=True,
    )
    async def follow(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Follow an account; one that is private gets a follow request."""
        await rooms.graph.follow(viewer.id, parse_account_id(account_id))

    @delete("/accounts/{account_id:str}/follow", summary="Unfollow", scope=scopes.GRAPH_WRITE, lean=True)
    async def unfollow(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unfollow an account, or withdraw the follow request."""
        await rooms.graph.unfollow(viewer.id, parse_account_id(account_id))

    @delete("/followers/{account_id:str}", summary="Remove a follower", scope=scopes.GRAPH_WRITE)
    async def remove_follower(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove a follower. They are not notified."""
        await rooms.graph.remove_follower(viewer.id, parse_account_id(account_id))

    @put(
        "/follow-requests/{account_id:str}",
        summary="Approve a request",
        status_code=204,
        scope=scopes.GRAPH_WRITE,
    )
    async def approve(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Approve a follow request."""
        await rooms.graph.approve(viewer.id, parse_account_id(account_id))

    @delete("/follow-requests/{account_id:str}", summary="Decline a request", scope=scopes.GRAPH_WRITE)
    async def decline(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Decline a follow request. They are not notified."""
        await rooms.graph.decline(viewer.id, parse_account_id(account_id))

    @put("/blocks/{account_id:str}", summary="Block", status_code=204, scope=scopes.GRAPH_WRITE)
    async def block(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Block an account: follows in both directions end, and each is hidden from the other everywhere.

        Whoever is blocked can block back.
        """
        await rooms.graph.block(viewer.id, parse_account_id(account_id))

    @post("/blocks", summary="Block by username", status_code=204, scope=scopes.GRAPH_WRITE)
    async def block_by_name(self, data: JSONBody[BlockedName], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Block an account by its username, also one whose profile is hidden from the viewer by a block."""
        account = await rooms.accounts.get_by_name(data.username)
        await rooms.graph.block(viewer.id, account.id)

    @delete("/blocks/{account_id:str}", summary="Unblock", scope=scopes.GRAPH_WRITE)
    async def unblock(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Unblock an account. Follows are not restored."""
        await rooms.graph.unblock(viewer.id, parse_account_id(account_id))

    @put("/mutes/{account_id:str}", summary="Mute", status_code=204, scope=scopes.GRAPH_WRITE)
    async def mute(
        self, account_id: PathId, data: JSONBody[MuteChange], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Hide the posts or stories of an account without unfollowing it. They are not notified."""
        await rooms.graph.mute(
            viewer.id, parse_account_id(account_id), posts=data.posts, stories=data.stories
        )

    @delete("/mutes/{account_id:str}", summary="Unmute", scope=scopes.GRAPH_WRITE)
    async def unmute(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Show the posts and stories of an account again."""
        await rooms.graph.mute(viewer.id, parse_account_id(account_id), posts=False, stories=False)

    @put(
        "/close-friends/{account_id:str}",
        summary="Add a close friend",
        status_code=204,
        scope=scopes.GRAPH_WRITE,
    )
    async def befriend(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Add an account to the close friends. They are not notified."""
        await rooms.graph.set_close_friend(viewer.id, parse_account_id(account_id))

    @delete("/close-friends/{account_id:str}", summary="Remove a close friend", scope=scopes.GRAPH_WRITE)
    async def unfriend(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove an account from the close friends."""
        await rooms.graph.set_close_friend(viewer.id, parse_account_id(account_id), is_close=False)

    @put("/restrictions/{account_id:str}", summary="Restrict", status_code=204, scope=scopes.GRAPH_WRITE)
    async def restrict(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Restrict an account: only they see their comments on the viewer's posts. They are not notified."""
        await rooms.graph.restrict(viewer.id, parse_account_id(account_id))

    @delete("/restrictions/{account_id:str}", summary="Lift a restriction", scope=scopes.GRAPH_WRITE)
    async def unrestrict(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Lift the restriction of an account."""
        await rooms.graph.restrict(viewer.id, parse_account_id(account_id), is_restricted=False)

    @delete("/suggestions/{account_id:str}", summary="Dismiss a suggestion", scope=scopes.GRAPH_WRITE)
    async def dismiss(self, account_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Do not suggest this account again."""
        await rooms.graph.dismiss_suggestion(viewer.id, parse_account_id(account_id))
