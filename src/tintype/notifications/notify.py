"""Decides whether an activity becomes a notification, and finds whom a source was notified to.

Nobody is notified of their own activities, of people they have blocked, muted or restricted or who have blocked them,
of what their preferences leave out, or of a post that they may not see. The list checks the same again when it is read.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.graph import VisibleAccount
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.kinds import KINDS, KindName
from tintype.notifications.list_writer import FOR_POST_AUTHOR_ONLY, ListWriter
from tintype.notifications.models import SYSTEM, Activity
from tintype.notifications.store import QUERIES
from tintype.posts import PostNotFound

TRACES_A_PAGE = 500


class Notifier:
    """Notifies recipients of activities, as far as they want that and may know of them."""

    def __init__(self, deps: NotificationsDependencies, writer: ListWriter) -> None:
        self._shards, self._visibility, self._posts = deps.shards, deps.visibility, deps.posts
        self._writer = writer

    async def notify(self, *activities: Activity) -> None:
        """Add activities to their recipients' lists, if the recipients want them and may know of them."""
        await self.apply(activities)

    async def retract(self, *activities: Activity) -> None:
        """Retract activities, even if they have not arrived yet."""
        await self.apply((), activities)

    async def apply(self, added: Iterable[Activity], retracted: Iterable[Activity] = ()) -> None:
        """Add and retract many activities; deleted accounts get nothing, and leave nothing to remember."""
        added, retracted = list(added), list(retracted)
        people = {each for one in (*added, *retracted) for each in (one.recipient_id, one.actor_id)}
        accounts = await self._visibility.find_unfiltered(people - {SYSTEM})
        for each in [one for one in retracted if _is_deleted(one.actor_id, accounts)]:
            retracted.remove(each)  # nothing of theirs will arrive that must be ignored
            if _receives(each.recipient_id, accounts):
                await self._writer.erase_actor(each.recipient_id, each.actor_id)
        retracted = [each for each in retracted if _receives(each.recipient_id, accounts)]
        added = [each for each in added if _may_notify(each, accounts)]
        await self._writer.apply(await self._with_visible_posts(added), retracted)

    async def _with_visible_posts(self, activities: Sequence[Activity]) -> list[Activity]:
        """Those that are about no post, or one the recipient may see; the writer checks recipients' own posts."""
        shown: list[Activity] = []
        for each in activities:
            is_checked_later = each.kind in FOR_POST_AUTHOR_ONLY
            if (
                each.post_id is None
                or is_checked_later
                or await self._may_see(each.recipient_id, each.post_id)
            ):
                shown.append(each)
        return shown

    async def _may_see(self, recipient: AccountId, post_id: PostId) -> bool:
        try:
            await self._posts.check_visible(post_id, viewer=recipient)
        except PostNotFound:
            return False
        return True

    async def recipients_of(self, source: AccountId | PostId | CommentId) -> AsyncIterator[AccountId]:
        """Everybody who was ever notified of something about this account, post or comment."""
        after = 0
        while has_shard(self._shards, source):
            rows = await self._shards.owner(source).fetch(
                QUERIES.page_traces, source_id=source, after=after, limit=TRACES_A_PAGE
            )
            for row in rows:
                yield AccountId(row["recipient_id"])
            if len(rows) < TRACES_A_PAGE:
                return
            after = rows[-1]["recipient_id"]

    async def is_outdated(self, source: PostId | CommentId, change_id: int) -> bool:
        """Whether a newer change of this post or comment was processed already."""
        newest = await self._shards.owner(source).fetch_value(QUERIES.find_newest_change, source_id=source)
        return newest is not None and newest > change_id

    async def find_outdated(self, changes: Mapping[CommentId, int]) -> set[CommentId]:
        """Those of the comments of which a newer change was processed already; one read per server."""
        if not changes:
            return set()
        gathered = await self._shards.gather(QUERIES.gather_newest_changes, list(changes))
        newest = {CommentId(row["source_id"]): row["change_id"] for row in gathered.complete()}
        return {each for each, change_id in newest.items() if change_id > changes[each]}

    async def record_change(self, source: PostId | CommentId, change_id: int) -> bool:
        """Record a change of a post or comment as processed; False when a newer one was processed before."""
        recorded = await self._shards.owner(source).fetch_one(
            QUERIES.record_change, source_id=source, change_id=change_id
        )
        return recorded is not None


def _receives(recipient: AccountId, accounts: Mapping[AccountId, Account]) -> bool:
    account = accounts.get(recipient)
    return account is not None and account.status not in {"leaving", "gone"}


def _is_deleted(actor: AccountId, accounts: Mapping[AccountId, Account]) -> bool:
    return actor != SYSTEM and (actor not in accounts or accounts[actor].status == "gone")


def _may_notify(activity: Activity, accounts: Mapping[AccountId, Account]) -> bool:
    """Whether actor and recipient are there; whether the recipient wants it is known on the recipient's shard."""
    if activity.actor_id == activity.recipient_id or not _receives(activity.recipient_id, accounts):
        return False
    if KINDS[activity.kind].is_system:
        return True
    actor = accounts.get(activity.actor_id)
    return actor is not None and actor.is_active


def is_welcome(actor: VisibleAccount | None) -> bool:
    """Whether the viewer who sees this account wants notifications about it: it is neither muted nor restricted."""
    return actor is not None and not actor.relation.mutes_posts and not actor.relation.restricts


def system_activity(recipient: AccountId, kind: KindName, *, object_id: int, change_id: int) -> Activity:
    """A message from the operators, such as a warning; each is a notification of its own."""
    return Activity(
        recipient_id=recipient,
        kind=kind,
        actor_id=SYSTEM,
        change_id=change_id,
        object_id=object_id,
        group_id=change_id,
    )
