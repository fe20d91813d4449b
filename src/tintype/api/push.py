"""Push subscriptions over HTTP: the browsers that are told of new notifications."""

import base64
import binascii
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, post
from litestar.params import JSONBody

from tintype.accounts import Pass
from tintype.api import scopes
from tintype.api.given import Current, House, PathId, Viewer, id_from
from tintype.notifications import Subscription, SubscriptionInvalid

KeyText = Annotated[str, msgspec.Meta(max_length=200, pattern="^[A-Za-z0-9_-]+={0,2}$")]


class PushKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The browser's own keys, as `PushSubscription.toJSON()` has them."""

    p256dh: KeyText
    auth: KeyText


class NewSubscription(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `PushManager.subscribe` gave to the browser."""

    endpoint: Annotated[str, msgspec.Meta(max_length=2000)]
    keys: PushKeys


class PushKeyView(msgspec.Struct, frozen=True):
    """The `applicationServerKey` to subscribe with."""

    public_key: str


class SubscriptionView(msgspec.Struct, frozen=True):
    """A browser that is told."""

    subscription_id: str
    device: str
    is_current: bool


class SubscriptionsView(msgspec.Struct, frozen=True):
    """All browsers that are told."""

    subscriptions: list[SubscriptionView]


class PushApi(Controller):
    """Browsers that are told of new notifications."""

    path = "/api/v1/push"
    tags = ("Notifications",)

    @get("/key", summary="The key to subscribe with", scope=scopes.READ)
    async def key(self, viewer: Viewer, rooms: House) -> PushKeyView:  # noqa: ARG002 - names the viewer to refuse strangers
        """Hand this to `PushManager.subscribe` as `applicationServerKey`."""
        return PushKeyView(rooms.notifications.key.public_key)

    @get("/subscriptions", summary="Browsers that are told", scope=scopes.READ)
    async def subscriptions(self, current: Current, rooms: House) -> SubscriptionsView:
        """Every browser of the viewer's that is told."""
        found = await rooms.notifications.pushing.list(current.account_id)
        return SubscriptionsView([_show_subscription(each, current) for each in found])

    @post("/subscriptions", summary="Subscribe", scope=scopes.NOTIFICATIONS_WRITE)
    async def subscribe(
        self,
        request: Request[Any, Any, Any],
        data: JSONBody[NewSubscription],
        current: Current,
        rooms: House,
    ) -> SubscriptionView:
        """Tell this browser from now on; it ends with its session."""
        made = await rooms.notifications.pushing.subscribe(
            current.account_id,
            session_id=str(current.session_id),
            endpoint=data.endpoint,
            public_key=_bytes_of(data.keys.p256dh),
            auth_secret=_bytes_of(data.keys.auth),
            device=request.headers.get("user-agent", ""),
        )
        return _show_subscription(made, current)

    @delete("/subscriptions/{subscription_id:str}", summary="Unsubscribe", scope=scopes.NOTIFICATIONS_WRITE)
    async def unsubscribe(self, subscription_id: PathId, viewer: Viewer, rooms: House) -> None:
        """Tell a browser nothing any more."""
        await rooms.notifications.pushing.unsubscribe(viewer.id, id_from(subscription_id))


def _show_subscription(subscription: Subscription, current: Pass) -> SubscriptionView:
    is_current = subscription.session_id == str(current.session_id)
    return SubscriptionView(str(subscription.id), subscription.device, is_current)


def _bytes_of(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except (binascii.Error, ValueError) as error:
        raise SubscriptionInvalid from error
