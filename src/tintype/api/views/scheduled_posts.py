"""Scheduled posts, for their authors."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tintype.accounts import Account
from tintype.api.views.context import ViewContext, context_for
from tintype.api.views.media import MediaView, show_media
from tintype.api.views.posts import PostPlaceView
from tintype.base.ids import AccountId
from tintype.posts import Problem, ScheduledPost
from tintype.wiring import Rooms


class ScheduledPostView(msgspec.Struct, frozen=True):
    """A post that is published at `publish_at`.

    `problem` says what kept it from that: `daily_limit` (published as soon as that allows, at about `due_at`),
    `account_inactive`, `media_invalid` or `refused` (its author must change or publish it, or it is deleted after 30
    days).
    """

    scheduled_id: str
    publish_at: datetime
    due_at: datetime | None
    problem: Problem | None
    media: list[MediaView]
    caption: str
    place: PostPlaceView | None
    comments_enabled: bool
    hides_like_count: bool
    shows_camera: bool | None
    """Null where the account's setting decides when it is published."""


class ScheduledPostsView(msgspec.Struct, frozen=True):
    """All scheduled posts of the viewer, the next first."""

    scheduled: list[ScheduledPostView]


async def show_scheduled_posts(
    rooms: Rooms, author: Account, posts: Sequence[ScheduledPost]
) -> list[ScheduledPostView]:
    """Scheduled posts for their author, with those tagged in them whom the author may know of."""
    context = context_for(author, rooms)
    tagged = {each for post in posts for each in post.draft.tagged_ids}
    visible = await rooms.visibility.find_accounts(author.id, tagged) if tagged else {}
    people = {account_id: person.account for account_id, person in visible.items()}
    return [_show(post, people, context) for post in posts]


def _show(
    post: ScheduledPost, people: Mapping[AccountId, Account], context: ViewContext
) -> ScheduledPostView:
    place = post.draft.place
    return ScheduledPostView(
        scheduled_id=str(post.id),
        publish_at=post.publish_at,
        due_at=post.due_at,
        problem=post.problem,
        media=[show_media(item, context, audience="owner", people=people) for item in post.media],
        caption=post.draft.caption,
        place=PostPlaceView(place.id, place.name, place.lat, place.lon) if place else None,
        comments_enabled=post.draft.comments_enabled,
        hides_like_count=post.draft.hides_like_count,
        shows_camera=None if post.draft.shows_camera is msgspec.UNSET else post.draft.shows_camera,
    )
