"""Following, blocking and treating people over HTTP: what one does about others."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, put
from litestar.params import JSONBody

from tintype.api import scopes
from tintype.api.given import House, PathId, Viewer, id_from
from tintype.base.ids import AccountId
from tintype.graph import Relation


class RelationView(msgspec.Struct, frozen=True):
    """How the viewer stands to somebody. Whether they have blocked the viewer is never told."""

    viewer_follows: bool
    viewer_has_requested: bool
    follows_viewer: bool
    viewer_blocks: bool
    viewer_mutes_posts: bool
    viewer_mutes_stories: bool
    viewer_has_as_close_friend: bool
    viewer_restricts: bool


class Mute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What not to see of somebody; what is left out stays as it is."""

    posts: Annotated[bool | None, msgspec.Meta(description="Hide their posts from the feed.")] = None
    stories: Annotated[bool | None, msgspec.Meta(description="Hide their stories.")] = None


def show_relation(relation: Relation) -> RelationView:
    """What the viewer may know about it."""
    return RelationView(
        viewer_follows=relation.follows,
        viewer_has_requested=relation.has_requested,
        follows_viewer=relation.follows_viewer,
        viewer_blocks=relation.blocks,
        viewer_mutes_posts=relation.mutes_posts,
        viewer_mutes_stories=relation.mutes_stories,
        viewer_has_as_close_friend=relation.is_close_friend,
        viewer_restricts=relation.restricts,
    )


class GraphApi(Controller):
    """What one does about other people. Each of it may be asked for twice and happens once."""

    path = "/api/v1"
    tags = ("Graph",)

    @get("/accounts/{account_id:str}/relation", summary="How I stand to somebody", scope=scopes.READ)
    async def relation(self, account_id: PathId, viewer: Viewer, rooms: House) -> RelationView:
        """What there is between the viewer and somebody else."""
        seen = await rooms.sight.get(viewer.id, _id(account_id))
        return show_relation(seen.relation)

    @put("/accounts/{account_id:str}/follow", summary="Follow", status_code=204, scope=scopes.GRAPH_WRITE)
    async def follow(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Follow somebody at once, or ask to when the account is private."""
        await rooms.graph.follow(viewer.id, _id(account_id))

    @delete("/accounts/{account_id:str}/follow", summary="Unfollow", scope=scopes.GRAPH_WRITE)
    async def unfollow(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Cease to follow somebody, or take the request back, effective at once."""
        await rooms.graph.unfollow(viewer.id, _id(account_id))

    @delete("/followers/{account_id:str}", summary="Remove a follower", scope=scopes.GRAPH_WRITE)
    async def remove_follower(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Somebody no longer follows the viewer. They are not told."""
        await rooms.graph.follows.remove_follower(viewer.id, _id(account_id))

    @put(
        "/follow-requests/{account_id:str}",
        summary="Approve a request",
        status_code=204,
        scope=scopes.GRAPH_WRITE,
    )
    async def approve(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Let somebody follow who asked to."""
        await rooms.graph.follows.approve(viewer.id, _id(account_id))

    @delete("/follow-requests/{account_id:str}", summary="Decline a request", scope=scopes.GRAPH_WRITE)
    async def decline(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Somebody who asked to follow may not. They are not told."""
        await rooms.graph.follows.decline(viewer.id, _id(account_id))

    @put("/blocks/{account_id:str}", summary="Block", status_code=204, scope=scopes.GRAPH_WRITE)
    async def block(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """End every follow between the two and hide each from the other, everywhere and at once."""
        await rooms.graph.blocks.block(viewer.id, _id(account_id))

    @delete("/blocks/{account_id:str}", summary="Unblock", scope=scopes.GRAPH_WRITE)
    async def unblock(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Let the two see each other again. Follows do not come back."""
        await rooms.graph.blocks.unblock(viewer.id, _id(account_id))

    @put("/mutes/{account_id:str}", summary="Mute", status_code=204, scope=scopes.GRAPH_WRITE)
    async def mute(self, account_id: PathId, data: JSONBody[Mute], viewer: Viewer, rooms: House) -> None:
        """See no posts or stories of somebody without unfollowing them. They are not told."""
        await rooms.graph.attitudes.mute(viewer.id, _id(account_id), posts=data.posts, stories=data.stories)

    @delete("/mutes/{account_id:str}", summary="Unmute", scope=scopes.GRAPH_WRITE)
    async def unmute(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """See posts and stories of somebody again."""
        await rooms.graph.attitudes.mute(viewer.id, _id(account_id), posts=False, stories=False)

    @put(
        "/close-friends/{account_id:str}",
        summary="Add a close friend",
        status_code=204,
        scope=scopes.GRAPH_WRITE,
    )
    async def befriend(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Share with somebody what is for close friends only. They are not told."""
        await rooms.graph.attitudes.befriend(viewer.id, _id(account_id))

    @delete("/close-friends/{account_id:str}", summary="Remove a close friend", scope=scopes.GRAPH_WRITE)
    async def unfriend(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Share with somebody no longer what is for close friends only."""
        await rooms.graph.attitudes.befriend(viewer.id, _id(account_id), is_close=False)

    @put("/restrictions/{account_id:str}", summary="Restrict", status_code=204, scope=scopes.GRAPH_WRITE)
    async def restrict(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Somebody's comments on the viewer's posts are seen by themselves alone. They are not told."""
        await rooms.graph.attitudes.restrict(viewer.id, _id(account_id))

    @delete("/restrictions/{account_id:str}", summary="Lift a restriction", scope=scopes.GRAPH_WRITE)
    async def unrestrict(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Somebody's comments are seen by everybody again."""
        await rooms.graph.attitudes.restrict(viewer.id, _id(account_id), is_restricted=False)

    @delete("/suggestions/{account_id:str}", summary="Dismiss a suggestion", scope=scopes.GRAPH_WRITE)
    async def dismiss(self, account_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Somebody is not suggested any more."""
        await rooms.graph.attitudes.dismiss(viewer.id, _id(account_id))


def _id(text: str) -> AccountId:
    return AccountId(id_from(text))
