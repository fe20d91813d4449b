"""Browsers that receive push messages."""

import msgspec

from tintype.accounts import AuthenticatedSession
from tintype.notifications import Subscription


class PushKeyView(msgspec.Struct, frozen=True):
    """The `applicationServerKey` to subscribe with."""

    public_key: str


class SubscriptionView(msgspec.Struct, frozen=True):
    """A browser that receives push messages."""

    subscription_id: str
    device: str
    is_current: bool


class SubscriptionsView(msgspec.Struct, frozen=True):
    """Every browser that receives push messages."""

    subscriptions: list[SubscriptionView]


def show_subscription(subscription: Subscription, current: AuthenticatedSession) -> SubscriptionView:
    """A subscribed browser, and whether it is the one that sent the request."""
    is_current = subscription.session_id == str(current.session_id)
    return SubscriptionView(str(subscription.id), subscription.device, is_current)
