"""How the notifications room says no."""

from tintype.base.errors import Conflict, Invalid, NotFound


class NotificationNotFound(NotFound):
    """That notification is gone."""

    code = "notification_not_found"


class QuietHoursInvalid(Invalid):
    """Quiet hours begin and end at different minutes of a day, in a time zone such as Europe/Vienna."""

    code = "quiet_hours_invalid"


class SubscriptionInvalid(Invalid):
    """A push subscription needs an https address on the public internet and the two keys of the browser."""

    code = "subscription_invalid"


class SubscriptionNotFound(NotFound):
    """That push subscription is gone."""

    code = "subscription_not_found"


class TooManySubscriptions(Conflict):
    """Twenty devices can be told; remove one first."""

    code = "too_many_subscriptions"
