"""What was seen, why a post stands where it does, what there is to explore, and one's experiments, over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody

from tintype.api import scopes
from tintype.api.cursors import decode_place, encode_place
from tintype.api.given import Cursor, Guest, House, Limit, PostRef, Viewer, id_from, post_from
from tintype.api.shown import show_posts
from tintype.api.views import PostsView
from tintype.base.ids import IdText, PostId
from tintype.ranking import Explanation, Impression, Place

DAY_MS = 86_400_000


class ImpressionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A post that was on the screen, and for how many milliseconds."""

    post_id: IdText
    ms: Annotated[int, msgspec.Meta(ge=0, le=DAY_MS, examples=[1234])] = 0


class SeenBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was on the screen since the last time."""

    impressions: Annotated[list[ImpressionBody], msgspec.Meta(min_length=1, max_length=100)]


class ExperimentView(msgspec.Struct, frozen=True):
    """An experiment that runs, and the arm the viewer is in; empty for those who take no part."""

    name: str
    arm: str


class ExperimentsView(msgspec.Struct, frozen=True):
    """By name."""

    experiments: list[ExperimentView]


class RankingApi(Controller):
    """How posts are ordered."""

    path = "/api/v1"
    tags = ("Feed",)

    @post("/feed/seen", summary="Posts that were seen", status_code=204, scope=scopes.ACCOUNT_WRITE)
    async def seen(self, data: JSONBody[SeenBody], viewer: Viewer, rooms: House) -> None:
        """Posts that were on the screen sink in the feed; what the viewer may not see is passed over."""
        impressions = [Impression(PostId(id_from(each.post_id)), each.ms) for each in data.impressions]
        await rooms.ranking.looking.see(viewer.id, impressions)

    @get("/posts/{post_id:str}/explanation", summary="Why this post", scope=scopes.READ)
    async def explanation(self, post_id: PostRef, viewer: Viewer, rooms: House) -> Explanation:
        """Why a post stands where it does in the viewer's feed: what counts for it, by how much, and in words."""
        found = await rooms.posts.get(post_from(post_id), viewer=viewer.id)
        return (await rooms.ranking.why(viewer.id, [found.id]))[found.id]

    @get("/explore", summary="Explore", tags=["Explore"], scope=scopes.READ)
    async def explore(
        self, guest: Guest, rooms: House, cursor: Cursor = None, limit: Limit = 24
    ) -> PostsView:
        """Public posts that many react to just now, by people the viewer does not follow."""
        place = Place(*decode_place(cursor, 2)) if cursor else Place()
        found, following = await rooms.ranking.explore.page(
            guest.id if guest else None, place=place, limit=limit
        )
        shown = await show_posts(rooms, guest, found)
        next_cursor = encode_place(following.order, following.offset) if following else None
        return PostsView(shown, next_cursor, following is not None)

    @get("/accounts/me/experiments", summary="My experiments", scope=scopes.READ)
    async def experiments(self, viewer: Viewer, rooms: House) -> ExperimentsView:
        """Which experiments run, and which arm of each the viewer is in."""
        arms = rooms.ranking.experiments.arms(viewer.id)
        return ExperimentsView([ExperimentView(name, arm) for name, arm in arms.items()])
