"""Notifications: what happened to somebody, on their own shard, and its delivery to their browsers.

Owns the lists (`notifications`, made of `notification_acts`), their counts and settings, push subscriptions, and traces
that tell, with an account, post or comment, who has been told of it.
"""

from tintype.notifications.choices import KindUnknown
from tintype.notifications.errors import (
    NotificationNotFound,
    QuietHoursInvalid,
    SubscriptionInvalid,
    SubscriptionNotFound,
    TooManySubscriptions,
)
from tintype.notifications.events import NotificationTold, PushDue
from tintype.notifications.kinds import KINDS, Audience, ChoosableName, KindName
from tintype.notifications.models import Choice, Notification, Page, QuietHours, StoryGlance, Subscription
from tintype.notifications.sending import PushSender
from tintype.notifications.service import QUERIES, Notifications

__all__ = [
    "KINDS",
    "QUERIES",
    "Audience",
    "Choice",
    "ChoosableName",
    "KindName",
    "KindUnknown",
    "Notification",
    "NotificationNotFound",
    "NotificationTold",
    "Notifications",
    "Page",
    "PushDue",
    "PushSender",
    "QuietHours",
    "QuietHoursInvalid",
    "StoryGlance",
    "Subscription",
    "SubscriptionInvalid",
    "SubscriptionNotFound",
    "TooManySubscriptions",
]
