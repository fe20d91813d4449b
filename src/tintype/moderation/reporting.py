"""What people do: report something, see what was decided about their own, and appeal."""

import msgspec

from shardwright.running import Queries, Shards
from tintype.base.ids import AccountId, has_shard
from tintype.base.limits import Limiter, Rule
from tintype.base.log import get_log
from tintype.moderation.desks import Desks
from tintype.moderation.errors import AppealClosed, CaseNotFound, OwnObject, TextMissing, TextTooLong
from tintype.moderation.kinds import ObjectKind, Reason
from tintype.moderation.models import LONGEST_TEXT, Case, Look
from tintype.moderation.objects import Objects

REPORTS = Rule("reports", 30, 3600)
APPEALS = Rule("appeals", 10, 86_400)
MOST_DECISIONS = 100
log = get_log("moderation")


class Reporting:
    """Reports, and the other side of them."""

    def __init__(
        self, shards: Shards, *, queries: Queries, desks: Desks, objects: Objects, limiter: Limiter
    ) -> None:
        self._shards, self._queries, self._desks = shards, queries, desks
        self._objects, self._limiter = objects, limiter

    async def report(
        self, kind: ObjectKind, object_id: int, by: AccountId, *, reason: Reason, note: str = ""
    ) -> None:
        """Bring something to the moderators once, however often it is sent."""
        note = check_text(note)
        await self._limiter.take(REPORTS, by)
        seen = await self._objects.look(kind, object_id, by)
        if seen.owner_id == by:
            raise OwnObject
        await self.trace(by, "reporter", kind, object_id)
        await self.trace(seen.owner_id, "owner", kind, object_id)
        evidence = encode(seen)
        async with self._desks.of_object(kind, object_id).begin() as tx:
            case_id = await tx.fetch_value(
                self._queries.open_case,
                kind=kind,
                object_id=object_id,
                owner_id=seen.owner_id,
                evidence=evidence,
            )
            is_new = await tx.fetch_one(
                self._queries.add_report, case_id=case_id, reporter_id=by, reason=reason, note=note
            )
            if is_new is not None:
                await tx.execute(self._queries.count_report, case_id=case_id, evidence=evidence)
        log.info("object.reported", kind=kind, object_id=object_id, reason=reason)

    async def decisions(self, account_id: AccountId) -> list[Case]:
        """What was decided about somebody's own things, newest first."""
        rows = await self._shards.owner(account_id).fetch(
            self._queries.list_traces, account_id=account_id, part="owner", limit=MOST_DECISIONS
        )
        cases = [await self._desks.find(row["kind"], row["object_id"]) for row in rows]
        decided = [case for case in cases if case is not None and is_decision(case)]
        return sorted(decided, key=lambda case: case.outcome_id or 0, reverse=True)

    async def appeal(self, case_id: int, by: AccountId, text: str) -> None:
        """Ask the moderators to look again, once per decision."""
        text = check_text(text)
        if not text:
            raise TextMissing("Say why it should be looked at again.")
        case = await self._desks.get(case_id)
        if case.owner_id != by or not is_decision(case):
            raise CaseNotFound
        await self._limiter.take(APPEALS, by)
        appealed = await self._desks.of_case(case_id).fetch_value(
            self._queries.appeal, case_id=case_id, owner_id=by, words=text
        )
        if appealed is None:
            raise AppealClosed
        log.info("case.appealed", case_id=case_id)

    async def trace(self, account_id: AccountId, part: str, kind: ObjectKind, object_id: int) -> None:
        """First the trace, then the case: whatever is interrupted, nothing of a person is left unfound."""
        if has_shard(self._shards, account_id):
            await self._shards.owner(account_id).execute(
                self._queries.trace_case, account_id=account_id, part=part, kind=kind, object_id=object_id
            )


def is_decision(case: Case) -> bool:
    """Whether something was decided that its owner may know of: a dismissed report is nobody's business."""
    return case.outcome not in {"", "dismissed"}


def check_text(text: str) -> str:
    """The text without blanks around it, or a refusal."""
    if len(text) > LONGEST_TEXT:
        raise TextTooLong
    return text.strip()


def encode(look: Look) -> str:
    """How an object looked, as text to keep."""
    return msgspec.json.encode(look.evidence).decode()
