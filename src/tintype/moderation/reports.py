"""Reports, and the reported side: what was decided about one's own content, and appeals."""

import msgspec

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import APPEAL, REPORT
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.errors import AppealClosed, CaseNotFound, OwnObject, TextMissing, TextTooLong
from tintype.moderation.kinds import ObjectKind, Reason
from tintype.moderation.models import LONGEST_TEXT, Case, ObjectSnapshot
from tintype.moderation.store import QUERIES

MAX_DECISIONS = 100
LONGEST_CLAIM = 4_000
log = get_log("moderation")


class Reports:
    """What people report, and how they learn of and appeal against decisions."""

    def __init__(self, deps: ModerationDependencies) -> None:
        self._shards, self._partitions = deps.shards, deps.partitions
        self._objects, self._limiter, self._held = deps.objects, deps.limiter, deps.held_evidence

    async def report(
        self,
        kind: ObjectKind,
        object_id: int,
        by: AccountId,
        *,
        reason: Reason,
        note: str = "",
        claimed_text: str = "",
    ) -> None:
        """Report an object to the moderators; reporting it again changes nothing.

        `claimed_text` is what an encrypted message says, as far as the reporter is to be believed.
        """
        note, claimed_text = check_text(note), check_claim(claimed_text)
        await self._limiter.acquire(REPORT, by)
        snapshot = await self._objects.get_snapshot(kind, object_id, by)
        if snapshot.owner_id == by:
            raise OwnObject
        snapshot = with_claim(snapshot, claimed_text)
        await self._held.hold(kind, object_id, snapshot)
        await self.record_trace(by, "reporter", kind, object_id)
        await self.record_trace(snapshot.owner_id, "owner", kind, object_id)
        async with self._partitions.of_object(kind, object_id).begin() as tx:
            case_id = await open_case(tx, kind, object_id, snapshot)
            is_new = await tx.fetch_one(
                QUERIES.add_report, case_id=case_id, reporter_id=by, reason=reason, note=note
            )
            if is_new is not None:
                await tx.execute(QUERIES.count_report, case_id=case_id, evidence=encode(snapshot))
        await self._held.hold(kind, object_id, snapshot)  # a decision may just have let go what was kept
        log.info("object.reported", kind=kind, object_id=object_id, reason=reason)

    async def list_decisions(self, account_id: AccountId) -> list[Case]:
        """The decisions about an account and its content, newest first."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_traces, account_id=account_id, part="owner", limit=MAX_DECISIONS
        )
        cases = [await self._partitions.find(row["kind"], row["object_id"]) for row in rows]
        decided = [case for case in cases if case is not None and is_decision(case)]
        return sorted(decided, key=lambda case: case.outcome_id or 0, reverse=True)

    async def appeal(self, case_id: int, by: AccountId, text: str) -> None:
        """The owner asks the moderators to reconsider, once per decision."""
        text = check_text(text)
        if not text:
            raise TextMissing("Say why the decision should be reconsidered.")
        case = await self._partitions.get(case_id)
        if case.owner_id != by or not is_decision(case):
            raise CaseNotFound
        await self._limiter.acquire(APPEAL, by)
        appealed = await self._partitions.of_case(case_id).fetch_value(
            QUERIES.appeal, case_id=case_id, owner_id=by, words=text
        )
        if appealed is None:
            raise AppealClosed
        log.info("case.appealed", case_id=case_id)

    async def record_trace(self, account_id: AccountId, part: str, kind: ObjectKind, object_id: int) -> None:
        """Record with a person that a case concerns them, before the case is written: so erasure finds every case."""
        if has_shard(self._shards, account_id):
            await self._shards.owner(account_id).execute(
                QUERIES.record_trace, account_id=account_id, part=part, kind=kind, object_id=object_id
            )


def is_decision(case: Case) -> bool:
    """Whether something was decided that the owner may know of; they never learn of a dismissed report."""
    return case.outcome not in {"", "dismissed"}


def check_text(text: str) -> str:
    """The text without white space around it; refused if it is too long."""
    if len(text) > LONGEST_TEXT:
        raise TextTooLong
    return text.strip()


def check_claim(text: str) -> str:
    """The reporter's word of what an encrypted message says; refused if it is longer than a message can be."""
    if len(text) > LONGEST_CLAIM:
        raise TextTooLong
    return text.strip()


def with_claim(snapshot: ObjectSnapshot, claimed_text: str) -> ObjectSnapshot:
    """The snapshot of something encrypted with the reporter's word for it; other things moderators see themselves."""
    if not claimed_text or not snapshot.evidence.get("is_encrypted"):
        return snapshot
    evidence = {**snapshot.evidence, "claimed_text": claimed_text}
    return msgspec.structs.replace(snapshot, evidence=evidence)


async def open_case(tx: Transaction, kind: ObjectKind, object_id: int, snapshot: ObjectSnapshot) -> int:
    """The case about an object, a new one if there is none; its row is locked until the transaction ends."""
    case_id: int = await tx.fetch_value(
        QUERIES.open_case,
        kind=kind,
        object_id=object_id,
        owner_id=snapshot.owner_id,
        evidence=encode(snapshot),
    )
    return case_id


def encode(snapshot: ObjectSnapshot) -> str:
    """The evidence of a snapshot as JSON, to store with the case."""
    return msgspec.json.encode(snapshot.evidence).decode()
