"""Which kinds of notifications people want, from whom, on which channel, and their quiet hours."""

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from tintype.base.ids import AccountId
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.errors import KindUnknown, QuietHoursInvalid
from tintype.notifications.kinds import CHOOSABLE, KINDS, KindName, NotificationAudience
from tintype.notifications.models import NotificationPreference, QuietHours
from tintype.notifications.store import QUERIES

MINUTES_A_DAY = 24 * 60


class NotificationPreferences:
    """The notification settings of accounts; a change applies to what happens from then on."""

    def __init__(self, deps: NotificationsDependencies) -> None:
        self._shards = deps.shards

    async def list(self, account_id: AccountId) -> list[NotificationPreference]:
        """The account's preference for every kind that can be configured, defaults included."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_preferences, account_id=account_id)
        chosen = {row["kind"]: NotificationPreference(**row) for row in rows}
        return [chosen.get(name, default_preference(name)) for name in CHOOSABLE]

    async def get(self, account_id: AccountId, kind: KindName) -> NotificationPreference:
        """The account's preference for one kind, or the default."""
        found = {each.kind: each for each in await self.list(account_id)}
        return found.get(kind, default_preference(kind))

    async def set(self, account_id: AccountId, preference: NotificationPreference) -> None:
        """Replace the account's preference for one kind."""
        if preference.kind not in CHOOSABLE:
            raise KindUnknown
        await self._shards.owner(account_id).execute(
            QUERIES.set_preference,
            account_id=account_id,
            kind=preference.kind,
            audience=preference.audience,
            is_pushed=preference.is_pushed,
        )

    async def find_quiet_hours(self, account_id: AccountId) -> QuietHours | None:
        """The hours during which the account's devices get no pushes, if set."""
        row = await self._shards.owner(account_id).fetch_one(QUERIES.find_quiet_hours, account_id=account_id)
        return QuietHours(row["quiet_from"], row["quiet_until"], row["time_zone"]) if row else None

    async def set_quiet_hours(self, account_id: AccountId, quiet: QuietHours | None) -> None:
        """Send no pushes during these hours; None removes the setting."""
        if quiet is not None:
            _check(quiet)
        await self._shards.owner(account_id).execute(
            QUERIES.set_quiet_hours,
            account_id=account_id,
            quiet_from=quiet.begin if quiet else None,
            quiet_until=quiet.end if quiet else None,
            time_zone=quiet.time_zone if quiet else "UTC",
        )


def default_preference(kind: KindName) -> NotificationPreference:
    """The preference of somebody who has not set one for this kind."""
    audience: NotificationAudience = "everyone"
    return NotificationPreference(kind, audience, KINDS[kind].is_pushed)


def is_quiet(quiet: QuietHours | None, now: datetime | None = None) -> bool:
    """Whether the local time lies within the quiet hours, which may span midnight."""
    if quiet is None:
        return False
    local = (now or datetime.now(UTC)).astimezone(ZoneInfo(quiet.time_zone))
    minute = local.hour * 60 + local.minute
    if quiet.begin < quiet.end:
        return quiet.begin <= minute < quiet.end
    return minute >= quiet.begin or minute < quiet.end


@cache
def _known_zones() -> frozenset[str]:
    """The names of all time zones; listing them reads hundreds of files."""
    return frozenset(available_timezones())


def _check(quiet: QuietHours) -> None:
    in_a_day = range(MINUTES_A_DAY)
    if quiet.begin not in in_a_day or quiet.end not in in_a_day or quiet.begin == quiet.end:
        raise QuietHoursInvalid
    if quiet.time_zone not in _known_zones():
        raise QuietHoursInvalid
