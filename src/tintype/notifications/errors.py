"""Why the notifications room refuses a request."""

from tintype.base.errors import Conflict, Invalid, NotFound


class KindUnknown(Invalid):
    """There is no such kind of notification, or it cannot be turned off."""

    code = "kind_unknown"


class NotificationNotFound(NotFound):
    """That notification no longer exists."""

    code = "notification_not_found"


class QuietHoursInvalid(Invalid):
    """Quiet hours need a start and an end at different minutes of the day, and a time zone such as Europe/Vienna."""

    code = "quiet_hours_invalid"


class SubscriptionInvalid(Invalid):
    """A push subscription needs an https address on the public internet and the browser's two keys."""

    code = "subscription_invalid"


class SubscriptionNotFound(NotFound):
    """That push subscription no longer exists."""

    code = "subscription_not_found"


class TooManySubscriptions(Conflict):
    """You can have push notifications on at most 20 devices; remove one first."""

    code = "too_many_subscriptions"
