"""Scheduled posts over HTTP: written now, published at a chosen time; only their authors know of them."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Controller, delete, get, patch, post
from litestar.params import JSONBody

from tintype.accounts import Account
from tintype.api.http import scopes
from tintype.api.http.dependencies import IdempotencyKey, InjectedRooms, PathId, Viewer, parse_id
from tintype.api.routes.post_bodies import NewPost, PostEdit, make_post_draft, read_edit
from tintype.api.views.post_presenter import show_new_post
from tintype.api.views.posts import PostView
from tintype.api.views.scheduled_posts import ScheduledPostsView, ScheduledPostView, show_scheduled_posts
from tintype.base.ids import ScheduledPostId
from tintype.posts import ScheduleChanges
from tintype.wiring import Rooms

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class NewScheduledPost(NewPost, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A post to publish at `publish_at`, at most a year ahead; at a time that has just passed, at once."""

    publish_at: Moment


class ScheduledPostEdit(PostEdit, frozen=True, forbid_unknown_fields=True):
    """Changes to a scheduled post; what is left out stays."""

    publish_at: Moment | msgspec.UnsetType = msgspec.UNSET


class ScheduledPostsApi(Controller):
    """Scheduled posts."""

    path = "/api/v1/scheduled-posts"
    tags = ("Posts",)

    @post("/", summary="Schedule a post", scope=scopes.POSTS_WRITE)
    async def schedule(
        self,
        data: JSONBody[NewScheduledPost],
        viewer: Viewer,
        rooms: InjectedRooms,
        idempotency_key: IdempotencyKey = None,
    ) -> ScheduledPostView:
        """Schedule once, however often the same Idempotency-Key is sent; 409 where that post is published already."""
        scheduled_id = await rooms.posts.scheduled.schedule(
            viewer.id, make_post_draft(data), data.publish_at, idempotency_key or None
        )
        return await _show_one(rooms, viewer, scheduled_id)

    @get("/", summary="My scheduled posts", scope=scopes.READ)
    async def mine(self, viewer: Viewer, rooms: InjectedRooms) -> ScheduledPostsView:
        """The viewer's scheduled posts, the next first."""
        posts = await rooms.posts.scheduled.list_of(viewer.id)
        return ScheduledPostsView(await show_scheduled_posts(rooms, viewer, posts))

    @get("/{scheduled_id:str}", summary="A scheduled post", scope=scopes.READ)
    async def one(self, scheduled_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> ScheduledPostView:
        """One of the viewer's scheduled posts."""
        return await _show_one(rooms, viewer, _read_id(scheduled_id))

    @patch("/{scheduled_id:str}", summary="Edit a scheduled post", scope=scopes.POSTS_WRITE)
    async def edit(
        self, scheduled_id: PathId, data: JSONBody[ScheduledPostEdit], viewer: Viewer, rooms: InjectedRooms
    ) -> ScheduledPostView:
        """Change its time, caption, alt texts, tags, place or options; what is left out stays."""
        number = _read_id(scheduled_id)
        changes = ScheduleChanges(publish_at=data.publish_at, post=read_edit(data))
        await rooms.posts.scheduled.edit(number, viewer.id, changes)
        return await _show_one(rooms, viewer, number)

    @post("/{scheduled_id:str}/publish", summary="Publish a scheduled post now", scope=scopes.POSTS_WRITE)
    async def publish(self, scheduled_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> PostView:
        """Publish it before its time."""
        post_id = await rooms.posts.publish_scheduled(_read_id(scheduled_id), viewer.id)
        return await show_new_post(rooms, viewer, await rooms.posts.get_new(post_id))

    @delete("/{scheduled_id:str}", summary="Cancel a scheduled post", scope=scopes.POSTS_WRITE)
    async def cancel(self, scheduled_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Delete it with its photos."""
        await rooms.posts.scheduled.cancel(_read_id(scheduled_id), viewer.id)


def _read_id(text: str) -> ScheduledPostId:
    return ScheduledPostId(parse_id(text))


async def _show_one(rooms: Rooms, author: Account, scheduled_id: ScheduledPostId) -> ScheduledPostView:
    found = await rooms.posts.scheduled.get(scheduled_id, author.id)
    return (await show_scheduled_posts(rooms, author, [found]))[0]
