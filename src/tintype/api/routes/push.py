"""Web Push subscriptions over HTTP: browsers that receive push messages."""

import base64
import binascii
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, post
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.dependencies import CurrentSession, InjectedRooms, PathId, Viewer, parse_id
from tintype.api.views.push import PushKeyView, SubscriptionsView, SubscriptionView, show_subscription
from tintype.notifications import PushEndpoint, SubscriptionInvalid

KeyText = Annotated[str, msgspec.Meta(max_length=200, pattern="^[A-Za-z0-9_-]+={0,2}$")]


class PushKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The browser's keys, as in `PushSubscription.toJSON()`."""

    p256dh: KeyText
    auth: KeyText


class NewSubscription(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subscription, as `PushManager.subscribe` returned it."""

    endpoint: Annotated[str, msgspec.Meta(max_length=2000)]
    keys: PushKeys


class PushApi(Controller):
    """Web Push subscriptions."""

    path = "/api/v1/push"
    tags = ("Notifications",)

    @get("/key", summary="The key to subscribe with", scope=scopes.READ)
    async def key(self, viewer: Viewer, rooms: InjectedRooms) -> PushKeyView:  # noqa: ARG002 - declaring the viewer refuses guests
        """The `applicationServerKey` for `PushManager.subscribe`."""
        return PushKeyView(rooms.notifications.vapid_key.public_key)

    @get("/subscriptions", summary="List subscriptions", scope=scopes.READ)
    async def subscriptions(self, current: CurrentSession, rooms: InjectedRooms) -> SubscriptionsView:
        """Every browser of the viewer that receives push messages."""
        found = await rooms.notifications.list_subscriptions(current.account_id)
        return SubscriptionsView([show_subscription(each, current) for each in found])

    @post("/subscriptions", summary="Subscribe", scope=scopes.NOTIFICATIONS_WRITE)
    async def subscribe(
        self,
        request: Request[Any, Any, Any],
        data: JSONBody[NewSubscription],
        current: CurrentSession,
        rooms: InjectedRooms,
    ) -> SubscriptionView:
        """Send push messages to this browser until its session ends."""
        made = await rooms.notifications.subscribe(
            current.account_id,
            PushEndpoint(
                session_id=str(current.session_id),
                endpoint=data.endpoint,
                public_key=_decode_base64(data.keys.p256dh),
                auth_secret=_decode_base64(data.keys.auth),
                device=request.headers.get("user-agent", ""),
            ),
        )
        return show_subscription(made, current)

    @delete("/subscriptions/{subscription_id:str}", summary="Unsubscribe", scope=scopes.NOTIFICATIONS_WRITE)
    async def unsubscribe(self, subscription_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Send no more push messages to a browser."""
        await rooms.notifications.unsubscribe(viewer.id, parse_id(subscription_id))


def _decode_base64(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except (binascii.Error, ValueError) as error:
        raise SubscriptionInvalid from error
