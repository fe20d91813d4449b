"""The listening side: what the other rooms announce becomes acts that people are told, or not.

Nobody is told of their own acts, of people they have blocked, muted or restricted or who have blocked them, of what
their settings leave out, or of a post that they may not see. The list checks the same again whenever it is read.
"""

from collections.abc import AsyncIterator, Iterable

from shardwright.running import Queries, Shards
from tintype.base.ids import LARGEST_ID, AccountId, CommentId, PostId, has_shard
from tintype.comments import CommentAdded, CommentLiked, CommentRemoved
from tintype.graph import Seen, Sight
from tintype.notifications.choices import Choices
from tintype.notifications.kinds import KINDS, KindName
from tintype.notifications.models import HOUSE, Act
from tintype.notifications.telling import Telling
from tintype.posts import PostEdited, PostLiked, PostPublished, PostRemoved, Posts

TRACES_A_PAGE = 500


class Hearing:
    """What happens to posts and comments, as acts."""

    def __init__(
        self,
        shards: Shards,
        sight: Sight,
        posts: Posts,
        *,
        queries: Queries,
        telling: Telling,
        choices: Choices,
    ) -> None:
        self._shards, self._sight, self._posts = shards, sight, posts
        self._queries, self._telling, self._choices = queries, telling, choices

    async def hear(self, act: Act) -> None:
        """Tell the act, if its recipient wants to know and may."""
        if await self._may_tell(act):
            await self._telling.tell(act)

    async def unhear(self, act: Act) -> None:
        """Take the act back, also one that has not been heard of yet; whoever has left needs nothing any more."""
        if not await self._is_there(act.recipient_id):
            return
        if await self._has_left(act.actor_id):  # nothing of theirs will be told that must be kept silent
            await self._telling.forget_actor(act.recipient_id, act.actor_id)
        else:
            await self._telling.take_back(act)

    async def on_liked(self, event: PostLiked) -> None:
        """The author learns of a like, and of its end."""
        act = Act(
            recipient_id=event.author_id,
            kind="like",
            actor_id=event.account_id,
            change_id=event.change_id,
            object_id=event.post_id,
            group_id=event.post_id,
            post_id=event.post_id,
        )
        await (self.hear(act) if event.is_liked else self.unhear(act))

    async def on_comment_liked(self, event: CommentLiked) -> None:
        """Likewise for a comment's author."""
        act = Act(
            recipient_id=event.comment_author_id,
            kind="comment_like",
            actor_id=event.account_id,
            change_id=event.change_id,
            object_id=event.comment_id,
            group_id=event.comment_id,
            post_id=event.post_id,
            comment_id=event.comment_id,
        )
        await (self.hear(act) if event.is_liked else self.unhear(act))

    async def on_comment(self, event: CommentAdded) -> None:
        """Each is told once: whom it answers, the post's author, whom it mentions, in this order."""
        if await self._is_outdated(event.comment_id, event.comment_id):
            return
        kinds: dict[AccountId, KindName] = dict.fromkeys(event.mention_ids, "mention")
        kinds[event.post_author_id] = "comment"
        if event.parent_account_id is not None:
            kinds[event.parent_account_id] = "reply"
        groups = {"comment": event.post_id, "reply": event.parent_id, "mention": event.comment_id}
        for recipient, kind in kinds.items():
            act = Act(
                recipient_id=recipient,
                kind=kind,
                actor_id=event.account_id,
                change_id=event.comment_id,
                object_id=event.comment_id,
                group_id=groups[kind] or event.comment_id,
                post_id=event.post_id,
                comment_id=event.comment_id,
            )
            await self.hear(act)
        if await self._is_outdated(event.comment_id, event.comment_id):  # removed while we told of it
            for recipient in kinds:
                await self._telling.take_back_comment(recipient, event.comment_id)

    async def on_comment_removed(self, event: CommentRemoved) -> None:
        """Whoever was told of the comment is not any more, and news of it that come late tell nobody."""
        await self._mark(event.comment_id, LARGEST_ID)
        async for recipient in self.recipients_of(event.comment_id):
            await self._telling.take_back_comment(recipient, event.comment_id)

    async def on_published(self, event: PostPublished) -> None:
        """Those who are tagged or mentioned learn of it, unless the post was edited since."""
        named = {*event.tagged_ids, *event.mention_ids}
        if not event.is_new or not named or await self._is_outdated(event.post_id, event.post_id):
            return
        await self._tell_named(event, event.post_id)
        if await self._is_outdated(event.post_id, event.post_id):  # edited while we told of it
            for recipient in named:  # newer than what we told, older than what the edit tells
                await self.unhear(_naming(event, recipient, "tag", event.post_id + 1))
                await self.unhear(_naming(event, recipient, "mention", event.post_id + 1))

    async def on_edited(self, event: PostEdited) -> None:
        """Who is named now is told, once; who is not named any more is not."""
        if not await self._mark(event.post_id, event.change_id):
            return
        await self._tell_named(event, event.change_id)
        tagged, mentioned = set(event.tagged_ids), set(event.mention_ids) - set(event.tagged_ids)
        async for recipient in self.recipients_of(event.post_id):
            if recipient not in tagged:
                await self.unhear(_naming(event, recipient, "tag", event.change_id))
            if recipient not in mentioned:
                await self.unhear(_naming(event, recipient, "mention", event.change_id))

    async def on_removed(self, event: PostRemoved) -> None:
        """Whoever was told of the post is not any more."""
        await self._telling.take_back_posts(event.author_id, [event.post_id])
        async for recipient in self.recipients_of(event.post_id):
            await self._telling.take_back_posts(recipient, [event.post_id])

    async def recipients_of(self, source: AccountId | PostId | CommentId) -> AsyncIterator[AccountId]:
        """Everybody who was ever told something of this account, post or comment."""
        after = 0
        while has_shard(self._shards, source):
            rows = await self._shards.owner(source).fetch(
                self._queries.page_traces, source_id=source, after=after, limit=TRACES_A_PAGE
            )
            for row in rows:
                yield AccountId(row["recipient_id"])
            if len(rows) < TRACES_A_PAGE:
                return
            after = rows[-1]["recipient_id"]

    async def _tell_named(self, event: PostPublished | PostEdited, change_id: int) -> None:
        for recipient in dict.fromkeys(event.tagged_ids):
            await self.hear(_naming(event, recipient, "tag", change_id))
        for recipient in dict.fromkeys(_without(event.mention_ids, event.tagged_ids)):
            await self.hear(_naming(event, recipient, "mention", change_id))

    async def _is_outdated(self, source: PostId | CommentId, change_id: int) -> bool:
        newest = await self._shards.owner(source).fetch_value(self._queries.find_mark, source_id=source)
        return newest is not None and newest > change_id

    async def _mark(self, source: PostId | CommentId, change_id: int) -> bool:
        """Remember a change; False when a newer one has been heard of."""
        marked = await self._shards.owner(source).fetch_one(
            self._queries.mark, source_id=source, change_id=change_id
        )
        return marked is not None

    async def _may_tell(self, act: Act) -> bool:
        if act.actor_id == act.recipient_id or not await self._is_there(act.recipient_id):
            return False
        if KINDS[act.kind].is_from_house:
            return True
        actor = (await self._sight.of(act.recipient_id, [act.actor_id])).get(act.actor_id)
        if not is_welcome(actor):
            return False
        audience = (await self._choices.get(act.recipient_id, act.kind)).audience
        if audience == "off" or (audience == "following" and not (actor and actor.relation.follows)):
            return False
        if act.post_id is None:
            return True
        return act.post_id in await self._posts.find_many([act.post_id], viewer=act.recipient_id)

    async def _is_there(self, recipient: AccountId) -> bool:
        seen = (await self._sight.of(recipient, [recipient])).get(recipient)
        return seen is not None and seen.account.status not in {"leaving", "gone"}

    async def _has_left(self, actor: AccountId) -> bool:
        seen = (await self._sight.of(actor, [actor])).get(actor)
        return actor != HOUSE and (seen is None or seen.account.status == "gone")


def is_welcome(actor: Seen | None) -> bool:
    """Whether somebody's acts may be told to the one who sees them so."""
    return actor is not None and not actor.relation.mutes_posts and not actor.relation.restricts


def _naming(event: PostPublished | PostEdited, recipient: AccountId, kind: KindName, change_id: int) -> Act:
    return Act(
        recipient_id=recipient,
        kind=kind,
        actor_id=event.author_id,
        change_id=change_id,
        object_id=event.post_id,
        group_id=event.post_id,
        post_id=event.post_id,
    )


def _without(these: Iterable[AccountId], those: Iterable[AccountId]) -> list[AccountId]:
    left_out = set(those)
    return [each for each in these if each not in left_out]


def from_house(recipient: AccountId, kind: KindName, *, object_id: int, change_id: int) -> Act:
    """Something that those who run the place say; each is a line of its own."""
    return Act(
        recipient_id=recipient,
        kind=kind,
        actor_id=HOUSE,
        change_id=change_id,
        object_id=object_id,
        group_id=change_id,
    )
