"""Notifications: what happened to somebody, on their own shard, and pushes of it to their browsers.

Owns each person's list (`notifications`, made of `notification_acts`), its counts, preferences and quiet hours, push
subscriptions, and traces that record, with an account, post or comment, who was notified of it.
"""

from tintype.notifications.errors import (
    KindUnknown,
    NotificationNotFound,
    QuietHoursInvalid,
    SubscriptionInvalid,
    SubscriptionNotFound,
    TooManySubscriptions,
)
from tintype.notifications.events import MessagePushDue, NotificationTold, PushDue
from tintype.notifications.kinds import KINDS, ChoosableName, KindName, NotificationAudience
from tintype.notifications.models import (
    Notification,
    NotificationPage,
    NotificationPreference,
    PushEndpoint,
    QuietHours,
    StoryPreview,
    Subscription,
    UnreadChanged,
)
from tintype.notifications.push_sender import PushSender
from tintype.notifications.service import Notifications
from tintype.notifications.store import QUERIES

__all__ = [
    "KINDS",
    "QUERIES",
    "ChoosableName",
    "KindName",
    "KindUnknown",
    "MessagePushDue",
    "Notification",
    "NotificationAudience",
    "NotificationNotFound",
    "NotificationPage",
    "NotificationPreference",
    "NotificationTold",
    "Notifications",
    "PushDue",
    "PushEndpoint",
    "PushSender",
    "QuietHours",
    "QuietHoursInvalid",
    "StoryPreview",
    "Subscription",
    "SubscriptionInvalid",
    "SubscriptionNotFound",
    "TooManySubscriptions",
    "UnreadChanged",
]
