"""The list of notifications and its settings over HTTP."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import JSONBody, PathParameter

from shardwright.ids import Layout
from tintype.accounts import Account
from tintype.api import scopes
from tintype.api.cursors import decode_cursor, encode_cursor
from tintype.api.given import Cursor, House, Limit, PathId, Viewer, id_from
from tintype.api.views import RelationshipView, show_relation
from tintype.base.ids import AccountId, IdText
from tintype.graph import Seen
from tintype.media import Addresses, urls_of
from tintype.notifications import (
    Audience,
    Choice,
    ChoosableName,
    KindName,
    Notification,
    QuietHours,
    StoryGlance,
)
from tintype.posts import Post

ASKS_BACK = frozenset({"follow", "accepted"})
Recency = Literal["today", "week", "month", "earlier"]
KindPath = Annotated[ChoosableName, PathParameter(description="A kind of notification.")]
Minute = Annotated[int, msgspec.Meta(ge=0, le=1439, description="Minutes after midnight.")]


class ActorView(msgspec.Struct, frozen=True):
    """Somebody who did something."""

    account_id: str
    username: str
    full_name: str
    is_verified: bool
    is_private: bool
    avatar_urls: dict[str, str] | None
    relationship: RelationshipView | None
    """How the viewer stands to them, where the line asks to follow back; null elsewhere."""


class PreviewView(msgspec.Struct, frozen=True):
    """The post that it is about, small."""

    post_id: str
    thumbnail_url: str | None


class StoryGlanceView(msgspec.Struct, frozen=True):
    """The story that it is about; over, it has no picture any more. `text` is the reply."""

    story_id: str
    is_live: bool
    thumbnail_url: str | None
    text: str | None
    reaction: str | None


class NotificationView(msgspec.Struct, frozen=True):
    """One line: the latest who did it, and how many they are in all."""

    notification_id: str
    kind: KindName
    actors: list[ActorView]
    actor_count: int
    others_count: int
    """How many more there are than `actors` names."""
    object_id: str | None
    """The comment for comment, reply and comment_like, and for a mention in one; the case for a warning;
    the reply for story_reply, the story for story_reaction and story_mention."""
    post: PreviewView | None
    story: StoryGlanceView | None
    happened_at: datetime
    recency: Recency
    is_read: bool


class NotificationsView(msgspec.Struct, frozen=True):
    """A page of the list, newest first."""

    notifications: list[NotificationView]
    unread_count: int
    next_cursor: str | None
    has_more: bool


class UnreadView(msgspec.Struct, frozen=True):
    """How many lines have not been read."""

    unread_count: int


class ReadUpTo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Marks everything up to this line as read; everything there is without one."""

    up_to: IdText | None = None


class ChoiceView(msgspec.Struct, frozen=True):
    """From whom a kind is told, and whether devices ring for it."""

    kind: KindName
    audience: Audience
    is_pushed: bool


class QuietView(msgspec.Struct, frozen=True):
    """When devices stay silent."""

    begin: int
    end: int
    time_zone: str


class SettingsView(msgspec.Struct, frozen=True):
    """Every kind, and the quiet hours."""

    kinds: list[ChoiceView]
    quiet_hours: QuietView | None


class NewChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From whom, and whether devices ring."""

    audience: Audience
    is_pushed: bool


class NewQuietHours(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From one minute of the day to another, which may lie past midnight."""

    begin: Minute
    end: Minute
    time_zone: Annotated[str, msgspec.Meta(max_length=64, examples=["Europe/Vienna"])] = "UTC"


class NotificationsApi(Controller):
    """What happened to the viewer."""

    path = "/api/v1/notifications"
    tags = ("Notifications",)

    @get("/", summary="Notifications", scope=scopes.READ)
    async def page(
        self, viewer: Viewer, rooms: House, cursor: Cursor = None, limit: Limit = 20
    ) -> NotificationsView:
        """What happened, newest first, likes and follows told together."""
        reading = rooms.notifications.reading
        found = await reading.page(viewer.id, before=decode_cursor(cursor), limit=limit)
        unread = await reading.count_unread(viewer.id)
        now = datetime.now(UTC)
        layout, addresses = rooms.shards.map.layout, rooms.media.addresses
        new = {actor.id for each in found.notifications if each.kind in ASKS_BACK for actor in each.actors}
        seen = await rooms.sight.of(viewer.id, new) if new else {}
        shown = [show_notification(each, layout, addresses, now, seen) for each in found.notifications]
        return NotificationsView(
            shown, unread, encode_cursor(found.next_before), found.next_before is not None
        )

    @get("/unread", summary="How many are unread", scope=scopes.READ)
    async def unread(self, viewer: Viewer, rooms: House) -> UnreadView:
        """One number, cheap to ask for."""
        return UnreadView(await rooms.notifications.reading.count_unread(viewer.id))

    @post("/read", summary="Mark as read", status_code=204, scope=scopes.NOTIFICATIONS_WRITE)
    async def read_all(self, data: JSONBody[ReadUpTo], viewer: Viewer, rooms: House) -> None:
        """Mark everything up to a line as read; what arrives later stays unread."""
        up_to = id_from(data.up_to) if data.up_to is not None else None
        await rooms.notifications.reading.read_all(viewer.id, up_to=up_to)

    @put(
        "/{notification_id:str}/read",
        summary="Mark one as read",
        status_code=204,
        scope=scopes.NOTIFICATIONS_WRITE,
    )
    async def read(self, notification_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Mark one line as read."""
        await rooms.notifications.reading.read(viewer.id, id_from(notification_id))

    @delete("/{notification_id:str}", summary="Remove one", scope=scopes.NOTIFICATIONS_WRITE)
    async def remove(self, notification_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Take one line out of the list."""
        await rooms.notifications.reading.remove(viewer.id, id_from(notification_id))

    @get("/settings", summary="What is told", scope=scopes.READ)
    async def settings(self, viewer: Viewer, rooms: House) -> SettingsView:
        """Every kind that can be chosen about, and the quiet hours."""
        choices = rooms.notifications.choices
        quiet = await choices.find_quiet_hours(viewer.id)
        kinds = [ChoiceView(c.kind, c.audience, c.is_pushed) for c in await choices.list(viewer.id)]
        return SettingsView(kinds, QuietView(quiet.begin, quiet.end, quiet.time_zone) if quiet else None)

    @put(
        "/settings/kinds/{kind:str}",
        summary="Choose about a kind",
        status_code=204,
        scope=scopes.NOTIFICATIONS_WRITE,
    )
    async def choose(self, kind: KindPath, data: JSONBody[NewChoice], viewer: Viewer, rooms: House) -> None:
        """Choose from whom a kind is told from now on, and whether devices ring for it."""
        choice = Choice(kind, data.audience, data.is_pushed)
        await rooms.notifications.choices.choose(viewer.id, choice)

    @put(
        "/settings/quiet-hours", summary="Set quiet hours", status_code=204, scope=scopes.NOTIFICATIONS_WRITE
    )
    async def set_quiet(self, data: JSONBody[NewQuietHours], viewer: Viewer, rooms: House) -> None:
        """Keep devices silent between these hours."""
        quiet = QuietHours(data.begin, data.end, data.time_zone)
        await rooms.notifications.choices.set_quiet_hours(viewer.id, quiet)

    @delete("/settings/quiet-hours", summary="End quiet hours", scope=scopes.NOTIFICATIONS_WRITE)
    async def end_quiet(self, viewer: Viewer, rooms: House) -> None:
        """Let devices ring at any hour."""
        await rooms.notifications.choices.set_quiet_hours(viewer.id, None)


def show_notification(
    line: Notification, layout: Layout, addresses: Addresses, now: datetime, seen: Mapping[AccountId, Seen]
) -> NotificationView:
    """A line for its reader."""
    happened_at = layout.id_time(line.place)
    return NotificationView(
        notification_id=str(line.id),
        kind=line.kind,
        actors=[
            show_actor(each, seen.get(each.id) if line.kind in ASKS_BACK else None) for each in line.actors
        ],
        actor_count=line.actor_count,
        others_count=max(0, line.actor_count - len(line.actors)),
        object_id=str(line.object_id) if line.object_id else None,
        post=PreviewView(str(line.post.id), _thumbnail(line.post, addresses)) if line.post else None,
        story=_show_story(line.story, addresses) if line.story else None,
        happened_at=happened_at,
        recency=_recency(now - happened_at),
        is_read=line.is_read,
    )


def show_actor(account: Account, seen: Seen | None) -> ActorView:
    """Somebody beside what they did."""
    return ActorView(
        account_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        is_verified=account.is_verified,
        is_private=account.is_private,
        avatar_urls=urls_of(account.avatar_folder) if account.avatar_folder else None,
        relationship=show_relation(seen.relation) if seen else None,
    )


def _thumbnail(post: Post, addresses: Addresses) -> str | None:
    return addresses.of_pictures(post.media[0].folder, signed=True)["150"] if post.media else None


def _show_story(story: StoryGlance, addresses: Addresses) -> StoryGlanceView:
    url = addresses.of_pictures(story.folder, signed=True)["150"] if story.folder else None
    return StoryGlanceView(str(story.story_id), story.folder is not None, url, story.text, story.reaction)


def _recency(age: timedelta) -> Recency:
    if age < timedelta(days=1):
        return "today"
    if age < timedelta(days=7):
        return "week"
    return "month" if age < timedelta(days=30) else "earlier"
