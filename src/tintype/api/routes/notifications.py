"""Notifications and their settings over HTTP."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.params import JSONBody, PathParameter

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor, next_page
from tintype.api.http.dependencies import Cursor, InjectedRooms, Limit, PathId, Viewer, parse_id
from tintype.api.views.context import context_for
from tintype.api.views.notifications import (
    FOLLOW_BACK_KINDS,
    NotificationPreferenceView,
    NotificationSettingsView,
    NotificationsView,
    QuietHoursView,
    UnreadView,
    show_notification,
)
from tintype.base.ids import IdText
from tintype.notifications import ChoosableName, NotificationAudience, NotificationPreference, QuietHours

KindPath = Annotated[ChoosableName, PathParameter(description="A kind of notification.")]
Minute = Annotated[int, msgspec.Meta(ge=0, le=1439, description="Minutes after midnight.")]


class ReadUpTo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The newest notification to mark as read; without one, all of them."""

    up_to: IdText | None = None


class NewNotificationPreference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose actions to be notified of, and whether to send push messages."""

    audience: NotificationAudience
    is_pushed: bool


class NewQuietHours(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From one minute of the day to another; may run past midnight."""

    begin: Minute
    end: Minute
    time_zone: Annotated[str, msgspec.Meta(max_length=64, examples=["Europe/Vienna"])] = "UTC"


class NotificationsApi(Controller):
    """Notifications of the viewer."""

    path = "/api/v1/notifications"
    tags = ("Notifications",)

    @get("/", summary="Notifications", scope=scopes.READ)
    async def page(
        self, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> NotificationsView:
        """The latest first. Likes of one post, and follows, are grouped into one notification."""
        found = await rooms.notifications.get_page(viewer.id, before=decode_cursor(cursor), limit=limit)
        unread = await rooms.notifications.count_unread(viewer.id)
        now = datetime.now(UTC)
        context = context_for(viewer, rooms)
        new = {
            actor.id
            for each in found.notifications
            if each.kind in FOLLOW_BACK_KINDS
            for actor in each.actors
        }
        people = await rooms.visibility.find_accounts(viewer.id, new) if new else {}
        shown = [show_notification(each, now, people, context) for each in found.notifications]
        return NotificationsView(shown, unread, *next_page(found.next_before))

    @get("/unread", summary="How many are unread", scope=scopes.READ)
    async def unread(self, viewer: Viewer, rooms: InjectedRooms) -> UnreadView:
        """The number of unread notifications."""
        return UnreadView(await rooms.notifications.count_unread(viewer.id))

    @post("/read", summary="Mark as read", status_code=204, scope=scopes.NOTIFICATIONS_WRITE)
    async def read_all(self, data: JSONBody[ReadUpTo], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Mark everything up to a notification as read; what arrives later stays unread."""
        up_to = parse_id(data.up_to) if data.up_to is not None else None
        await rooms.notifications.mark_all_read(viewer.id, up_to=up_to)

    @put(
        "/{notification_id:str}/read",
        summary="Mark one as read",
        status_code=204,
        scope=scopes.NOTIFICATIONS_WRITE,
    )
    async def read(self, notification_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Mark one notification as read."""
        await rooms.notifications.mark_read(viewer.id, parse_id(notification_id))

    @delete("/{notification_id:str}", summary="Remove one", scope=scopes.NOTIFICATIONS_WRITE)
    async def remove(self, notification_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove a notification from the list."""
        await rooms.notifications.remove(viewer.id, parse_id(notification_id))

    @get("/settings", summary="Notification settings", scope=scopes.READ)
    async def settings(self, viewer: Viewer, rooms: InjectedRooms) -> NotificationSettingsView:
        """The preferences for every kind of notification, and the quiet hours."""
        quiet = await rooms.notifications.find_quiet_hours(viewer.id)
        chosen = await rooms.notifications.list_preferences(viewer.id)
        kinds = [NotificationPreferenceView(each.kind, each.audience, each.is_pushed) for each in chosen]
        return NotificationSettingsView(
            kinds, QuietHoursView(quiet.begin, quiet.end, quiet.time_zone) if quiet else None
        )

    @put(
        "/settings/kinds/{kind:str}",
        summary="Change the preferences of a kind",
        status_code=204,
        scope=scopes.NOTIFICATIONS_WRITE,
    )
    async def choose(
        self, kind: KindPath, data: JSONBody[NewNotificationPreference], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Choose whose actions of this kind to be notified of, and whether to send push messages."""
        choice = NotificationPreference(kind, data.audience, data.is_pushed)
        await rooms.notifications.set_preference(viewer.id, choice)

    @put(
        "/settings/quiet-hours", summary="Set quiet hours", status_code=204, scope=scopes.NOTIFICATIONS_WRITE
    )
    async def set_quiet(self, data: JSONBody[NewQuietHours], viewer: Viewer, rooms: InjectedRooms) -> None:
        """Send no push messages between these hours."""
        quiet = QuietHours(data.begin, data.end, data.time_zone)
        await rooms.notifications.set_quiet_hours(viewer.id, quiet)

    @delete("/settings/quiet-hours", summary="End quiet hours", scope=scopes.NOTIFICATIONS_WRITE)
    async def end_quiet(self, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Send push messages at any hour."""
        await rooms.notifications.set_quiet_hours(viewer.id, None)
