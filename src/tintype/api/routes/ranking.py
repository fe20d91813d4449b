"""Ranking over HTTP: impressions, explanations of the feed's order, and experiments."""

from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.dependencies import InjectedRooms, PostRef, Viewer, parse_id, parse_post_id
from tintype.api.views.ranking import ExperimentsView, ExperimentView
from tintype.base.ids import IdText, PostId
from tintype.ranking import Explanation, Impression

DAY_MS = 86_400_000


class NewImpression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A post that was on the screen, and for how many milliseconds."""

    post_id: IdText
    ms: Annotated[int, msgspec.Meta(ge=0, le=DAY_MS, examples=[1234])] = 0


class NewImpressions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Posts that were on the screen since the last report."""

    impressions: Annotated[list[NewImpression], msgspec.Meta(min_length=1, max_length=100)]


class RankingApi(Controller):
    """How the feed is ranked."""

    path = "/api/v1"
    tags = ("Feed",)

    @post("/feed/seen", summary="Report impressions", status_code=204, scope=scopes.ACCOUNT_WRITE, lean=True)
    async def seen(self, data: JSONBody[NewImpressions], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Posts that were seen rank lower in the feed. Those that the viewer may not see are skipped."""
        impressions = [Impression(PostId(parse_id(each.post_id)), each.ms) for each in data.impressions]
        await rooms.ranking.record_impressions(viewer.id, impressions)

    @get("/posts/{post_id:str}/explanation", summary="Why this post", scope=scopes.READ)
    async def explanation(self, post_id: PostRef, viewer: Viewer, rooms: InjectedRooms) -> Explanation:
        """Why a post has its rank in the viewer's feed: each signal, its weight, and an explanation in words."""
        found = await rooms.posts.get(parse_post_id(post_id), viewer=viewer.id)
        return (await rooms.ranking.explain_now(viewer.id, [found.id]))[found.id]

    @get("/accounts/me/experiments", summary="My experiments", scope=scopes.READ)
    async def experiments(self, viewer: Viewer, rooms: InjectedRooms) -> ExperimentsView:
        """The experiments that are running, and the viewer's arm in each."""
        arms = rooms.ranking.experiment_arms(viewer.id)
        return ExperimentsView([ExperimentView(name, arm) for name, arm in arms.items()])
