"""Adding comments, and letting those through that were kept back."""

from dataclasses import dataclass

from shardwright.running import Shards, Transaction
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.limits import Limiter, Rule
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.comments.errors import CommentInvalid, CommentNotFound, CommentRepeated, CommentsOff
from tintype.comments.events import CommentAdded, CommentKept
from tintype.comments.models import DEEPEST, LONGEST_COMMENT, State
from tintype.comments.reading import Reading
from tintype.comments.store import QUERIES
from tintype.comments.words import find_unwanted
from tintype.graph import Sight
from tintype.posts import Names, Post, PostNotFound, Posts, clean, find_mentions

PACE = Rule("comments", 30, 300)
REPEATED_WITHIN_S = 60
MOST_MENTIONS = 20
log = get_log("comments")


@dataclass(frozen=True)
class Draft:
    """What somebody wants to say, and where."""

    post: Post
    by: AccountId
    text: str
    reply_to: CommentId | None
    key: str | None
    is_restricted: bool
    mention_ids: tuple[AccountId, ...]


class Writing:
    """What makes comments appear."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        posts: Posts,
        *,
        names: Names,
        limiter: Limiter,
    ) -> None:
        self._shards, self._outbox, self._sight, self._posts = shards, outbox, sight, posts
        self._names, self._limiter = names, limiter
        self._reading = Reading(shards, sight, posts)

    async def add(
        self,
        post_id: PostId,
        by: AccountId,
        text: str,
        *,
        reply_to: CommentId | None = None,
        key: str | None = None,
    ) -> CommentId:
        """Say something under a post, once however often a request with the same key is repeated."""
        text = clean(text)
        if not 1 <= len(text) <= LONGEST_COMMENT:
            raise CommentInvalid
        post = await self._posts.get(post_id, viewer=by)
        if not post.comments_enabled and by != post.author_id:
            raise CommentsOff
        if reply_to is not None and (await self._reading.get(reply_to, viewer=by)).comment.post_id != post_id:
            raise CommentNotFound
        await self._limiter.take(PACE, by)
        owners_view = (await self._sight.of(post.author_id, [by])).get(by)
        is_restricted = owners_view is not None and owners_view.relation.restricts
        mention_ids = await self._mentioned(text)
        return await self._keep(Draft(post, by, text, reply_to, key, is_restricted, mention_ids))

    async def approve(self, comment_id: CommentId, by: AccountId) -> None:
        """Show a comment that was kept back; for the author of the post alone."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None or found["post_author_id"] != by:
            raise CommentNotFound
        post = await self._posts.get(PostId(found["post_id"]), viewer=by)
        async with self._shards.owner(comment_id).begin() as tx:
            await tx.fetch_one(QUERIES.find_post_for_comment, post_id=post.id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] not in {"filtered", "waiting"}:
                return
            await tx.execute(QUERIES.set_state, comment_id=comment_id, state="visible")
            mention_ids = await self._mentioned(row["text"])
            await self._announce(
                tx, comment_id, post, AccountId(row["account_id"]), row["parent_id"], mention_ids
            )

    async def _mentioned(self, text: str) -> tuple[AccountId, ...]:
        wanted = list(dict.fromkeys(word.key for word in find_mentions(text)))[:MOST_MENTIONS]
        found = await self._names.find(wanted)
        return tuple(account.id for account in found.values())

    async def _keep(self, draft: Draft) -> CommentId:
        shard = self._shards.owner(draft.post.id)
        async with shard.begin() as tx:
            if await tx.fetch_one(QUERIES.find_post_for_comment, post_id=draft.post.id) is None:
                raise PostNotFound
            earlier = await self._find_earlier(tx, draft)
            if earlier is not None:
                return earlier
            parent = await self._lock_parent(tx, draft)
            state = await self._state(tx, draft)
            comment_id = CommentId(
                await tx.fetch_value(
                    QUERIES.add_comment,
                    post_id=draft.post.id,
                    account_id=draft.by,
                    text=draft.text,
                    state=state,
                    idempotency_key=draft.key,
                    **parent,
                )
            )
            if state == "visible":
                await self._announce(tx, comment_id, draft.post, draft.by, draft.reply_to, draft.mention_ids)
            else:
                await self._outbox.add(tx, CommentKept(comment_id, draft.post.id, draft.by))
        log.info("comment.added", comment_id=comment_id, post_id=draft.post.id, state=state)
        return comment_id

    async def _find_earlier(self, tx: Transaction, draft: Draft) -> CommentId | None:
        if draft.key is not None:
            row = await tx.fetch_one(QUERIES.find_by_key, account_id=draft.by, idempotency_key=draft.key)
            if row is not None and (row["post_id"], row["text"]) != (draft.post.id, draft.text):
                raise CommentRepeated("That Idempotency-Key was used for another comment.")
            if row is not None:
                return CommentId(row["id"])
        repeated = await tx.fetch_one(
            QUERIES.find_repeated,
            account_id=draft.by,
            post_id=draft.post.id,
            text=draft.text,
            parent_id=draft.reply_to,
            within_s=REPEATED_WITHIN_S,
        )
        if repeated is not None:
            raise CommentRepeated
        return None

    async def _lock_parent(self, tx: Transaction, draft: Draft) -> dict[str, int | None]:
        if draft.reply_to is None:
            return {"parent_id": None, "root_id": None, "depth": 0}
        row = await tx.fetch_one(QUERIES.lock_comment, comment_id=draft.reply_to)
        if row is None or row["state"] in {"deleted", "hidden"}:
            raise CommentNotFound
        return {
            "parent_id": row["id"],
            "root_id": row["root_id"] or row["id"],
            "depth": min(row["depth"] + 1, DEEPEST),
        }

    async def _state(self, tx: Transaction, draft: Draft) -> State:
        if draft.by == draft.post.author_id:
            return "visible"
        rows = await tx.fetch(QUERIES.list_filters, account_id=draft.post.author_id)
        if find_unwanted(draft.text, [row["word"] for row in rows]) is not None:
            return "filtered"
        return "waiting" if draft.is_restricted else "visible"

    async def _announce(  # noqa: PLR0917 - the parts of one event
        self,
        tx: Transaction,
        comment_id: CommentId,
        post: Post,
        by: AccountId,
        parent_id: CommentId | None,
        mention_ids: tuple[AccountId, ...],
    ) -> None:
        """Count a comment that can now be seen, and tell of it."""
        await self._posts.count_comments(tx, post.id, delta=1)
        parent_account: AccountId | None = None
        if parent_id is not None:
            parent = await tx.fetch_one(QUERIES.lock_comment, comment_id=parent_id)
            if parent is not None:
                parent_account = AccountId(parent["account_id"])
                await tx.execute(QUERIES.count_thread, root_id=parent["root_id"] or parent["id"], delta=1)
        await self._outbox.add(
            tx,
            CommentAdded(comment_id, post.id, post.author_id, by, parent_id, parent_account, mention_ids),
        )
