"""Reports, and what moderators do about them: the parts of the room, put together."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from shardwright.running import Queries, Shards
from tintype.accounts import Account, Accounts
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.comments import Comments
from tintype.graph import Sight
from tintype.moderation.deciding import Deciding
from tintype.moderation.desks import Desks
from tintype.moderation.errors import NotAModerator
from tintype.moderation.events import CaseDecided
from tintype.moderation.objects import (
    Objects,
    ReportableAccounts,
    ReportableComments,
    ReportablePosts,
    ReportableStories,
)
from tintype.moderation.queue import Queue
from tintype.moderation.reporting import Reporting
from tintype.notifications import Notifications
from tintype.posts import Posts
from tintype.stories import Stories

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
BATCH = 200


class Moderation:
    """`reporting` is everybody's; `queue` and `deciding` are for moderators."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        *,
        accounts: Accounts,
        posts: Posts,
        comments: Comments,
        stories: Stories,
        notifications: Notifications,
        limiter: Limiter,
    ) -> None:
        self._shards = shards
        self._desks = Desks(shards, QUERIES)
        objects = Objects(
            {
                "account": ReportableAccounts(sight, accounts),
                "post": ReportablePosts(posts),
                "comment": ReportableComments(comments),
                "story": ReportableStories(stories),
            }
        )
        self.reporting = Reporting(
            shards, queries=QUERIES, desks=self._desks, objects=objects, limiter=limiter
        )
        self.queue = Queue(QUERIES, self._desks)
        self.deciding = Deciding(
            outbox,
            queries=QUERIES,
            desks=self._desks,
            objects=objects,
            reporting=self.reporting,
            accounts=accounts,
            notifications=notifications,
        )

    def check(self, account: Account) -> Account:
        """A moderator; for everybody else this part of the house does not exist."""
        if not account.is_moderator:
            raise NotAModerator
        return account

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """What somebody reported, and what was decided about their own."""
        for row in await self._traces(account_id):
            if row["part"] == "owner":
                continue
            report = await self._desks.of_object(row["kind"], row["object_id"]).fetch_one(
                QUERIES.find_own_report,
                kind=row["kind"],
                object_id=row["object_id"],
                reporter_id=account_id,
            )
            if report is not None:
                about = {"kind": row["kind"], "object_id": str(row["object_id"])}
                said = {"reason": report["reason"], "note": report["note"]}
                at = {"at": report["reported_at"].isoformat()}
                yield Record("reports.json", about | said | at)
        for case in await self.reporting.decisions(account_id):
            about = {"kind": case.kind, "object_id": str(case.object_id)}
            yield Record("decisions.json", about | {"outcome": case.outcome, "appeal": case.appeal})

    async def erase(self, account_id: AccountId) -> int:
        """Reports stay without their reporter; cases stay as numbers; the log stays as it is."""
        rows = await self._traces(account_id)
        for row in rows:
            key = {"kind": row["kind"], "object_id": row["object_id"]}
            desk = self._desks.of_object(row["kind"], row["object_id"])
            if row["part"] == "reporter":
                await desk.execute(QUERIES.forget_reporter, reporter_id=account_id, **key)
            else:
                await desk.execute(QUERIES.forget_owner, owner_id=account_id, **key)
            own = self._shards.owner(account_id)
            await own.execute(QUERIES.drop_trace, account_id=account_id, part=row["part"], **key)
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many cases still hold something of this person."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_traces, account_id=account_id)

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [on(CaseDecided, self.deciding.follow, name="moderation-follow")]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []

    async def _traces(self, account_id: AccountId) -> list[Any]:
        return await self._shards.owner(account_id).fetch(
            QUERIES.list_traces, account_id=account_id, part=None, limit=BATCH
        )
