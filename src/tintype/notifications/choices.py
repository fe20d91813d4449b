"""What people want to be told, kind by kind, and when their devices stay silent."""

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from shardwright.running import Queries, Shards
from tintype.base.errors import Invalid
from tintype.base.ids import AccountId
from tintype.notifications.errors import QuietHoursInvalid
from tintype.notifications.kinds import CHOOSABLE, KINDS, Audience, KindName
from tintype.notifications.models import Choice, QuietHours

MINUTES_A_DAY = 24 * 60


class KindUnknown(Invalid):
    """There is no such kind of notification, or it cannot be turned off."""

    code = "kind_unknown"


class Choices:
    """The settings of notifications; they concern what happens from now on."""

    def __init__(self, shards: Shards, queries: Queries) -> None:
        self._shards, self._queries = shards, queries

    async def list(self, account_id: AccountId) -> list[Choice]:
        """Every kind that can be chosen about, as it is for this person."""
        rows = await self._shards.owner(account_id).fetch(self._queries.list_choices, account_id=account_id)
        chosen = {row["kind"]: Choice(**row) for row in rows}
        return [chosen.get(name, default_choice(name)) for name in CHOOSABLE]

    async def get(self, account_id: AccountId, kind: KindName) -> Choice:
        """What this person wants of one kind."""
        found = {each.kind: each for each in await self.list(account_id)}
        return found.get(kind, default_choice(kind))

    async def choose(self, account_id: AccountId, choice: Choice) -> None:
        """From now on this kind is told in this way."""
        if choice.kind not in CHOOSABLE:
            raise KindUnknown
        await self._shards.owner(account_id).execute(
            self._queries.choose,
            account_id=account_id,
            kind=choice.kind,
            audience=choice.audience,
            is_pushed=choice.is_pushed,
        )

    async def find_quiet_hours(self, account_id: AccountId) -> QuietHours | None:
        """When this person's devices stay silent, if ever."""
        row = await self._shards.owner(account_id).fetch_one(
            self._queries.find_quiet_hours, account_id=account_id
        )
        return QuietHours(row["quiet_from"], row["quiet_until"], row["time_zone"]) if row else None

    async def set_quiet_hours(self, account_id: AccountId, quiet: QuietHours | None) -> None:
        """Devices stay silent between these hours; None ends that."""
        if quiet is not None:
            _check(quiet)
        await self._shards.owner(account_id).execute(
            self._queries.set_quiet_hours,
            account_id=account_id,
            quiet_from=quiet.begin if quiet else None,
            quiet_until=quiet.end if quiet else None,
            time_zone=quiet.time_zone if quiet else "UTC",
        )


def default_choice(kind: KindName) -> Choice:
    """How a kind is told to somebody who has not chosen."""
    audience: Audience = "everyone"
    return Choice(kind, audience, KINDS[kind].is_pushed)


def is_quiet(quiet: QuietHours | None, now: datetime | None = None) -> bool:
    """Whether the clock on the wall lies between the hours, which may span midnight."""
    if quiet is None:
        return False
    there = (now or datetime.now(UTC)).astimezone(ZoneInfo(quiet.time_zone))
    minute = there.hour * 60 + there.minute
    if quiet.begin < quiet.end:
        return quiet.begin <= minute < quiet.end
    return minute >= quiet.begin or minute < quiet.end


@cache
def _known_zones() -> frozenset[str]:
    """The names of all time zones; finding them reads hundreds of files."""
    return frozenset(available_timezones())


def _check(quiet: QuietHours) -> None:
    in_a_day = range(MINUTES_A_DAY)
    if quiet.begin not in in_a_day or quiet.end not in in_a_day or quiet.begin == quiet.end:
        raise QuietHoursInvalid
    if quiet.time_zone not in _known_zones():
        raise QuietHoursInvalid
