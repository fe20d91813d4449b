"""Adding comments, and approving those that were held back."""

from dataclasses import dataclass

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import COMMENT
from tintype.base.text import clean_text
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentInvalid, CommentNotFound, CommentRepeated, CommentsOff
from tintype.comments.events import CommentAdded, CommentKept
from tintype.comments.models import MAX_COMMENT_LENGTH, MAX_DEPTH, CommentDraft, CommentState
from tintype.comments.reader import CommentReader
from tintype.comments.store import QUERIES
from tintype.comments.word_filter import find_filtered_word
from tintype.posts import Post, PostNotFound

REPEATED_WITHIN_S = 60
log = get_log("comments")


@dataclass(frozen=True)
class CheckedComment:
    """A comment that may be stored, and what decides how."""

    post: Post
    by: AccountId
    text: str
    reply_to: CommentId | None
    key: str | None
    is_restricted: bool
    mention_ids: tuple[AccountId, ...]


class CommentWriter:
    """Adds and approves comments."""

    def __init__(self, dependencies: CommentsDependencies, reader: CommentReader) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._visibility, self._posts = dependencies.visibility, dependencies.posts
        self._mentions, self._limiter, self._reader = dependencies.mentions, dependencies.limiter, reader

    async def add(self, post_id: PostId, by: AccountId, draft: CommentDraft) -> CommentId:
        """Comment on a post; a repeated request with the same idempotency key returns the first one's comment."""
        text, reply_to = clean_text(draft.text), draft.reply_to
        if not 1 <= len(text) <= MAX_COMMENT_LENGTH:
            raise CommentInvalid
        post = await self._posts.get(post_id, viewer=by)
        if not post.comments_enabled and by != post.author_id:
            raise CommentsOff
        if reply_to is not None and (await self._reader.get(reply_to, viewer=by)).comment.post_id != post_id:
            raise CommentNotFound
        await self._limiter.acquire(COMMENT, by)
        commenter = (await self._visibility.find_accounts(post.author_id, [by])).get(by)
        is_restricted = commenter is not None and commenter.relation.restricts
        mentioned = await self._mentions.resolve_new(by, text)
        mention_ids = tuple(dict.fromkeys(mentioned.values()))
        return await self._insert(
            CheckedComment(post, by, text, reply_to, draft.key, is_restricted, mention_ids)
        )

    async def approve(self, comment_id: CommentId, by: AccountId) -> None:
        """Show a comment that was held back; only the author of the post can do that."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None or found["post_author_id"] != by:
            raise CommentNotFound
        post = await self._posts.get(PostId(found["post_id"]), viewer=by)
        async with self._shards.owner(comment_id).begin() as tx:
            await self._posts.lock(tx, post.id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] not in {"filtered", "waiting"}:
                return
            await tx.execute(QUERIES.set_state, comment_id=comment_id, state="visible")
            commenter_id = AccountId(row["account_id"])
            mentioned = await self._mentions.resolve(commenter_id, row["text"])
            mention_ids = tuple(dict.fromkeys(mentioned.values()))
            await self._count_and_announce(tx, comment_id, post, commenter_id, row["parent_id"], mention_ids)

    async def _insert(self, draft: CheckedComment) -> CommentId:
        shard = self._shards.owner(draft.post.id)
        async with shard.begin() as tx:
            # The lock on the post makes its count exact, and lets the second of two equal comments see the first.
            if not await self._posts.lock(tx, draft.post.id):
                raise PostNotFound
            earlier = await self._find_earlier(tx, draft)
            if earlier is not None:
                return earlier
            parent = await self._lock_parent(tx, draft)
            state = await self._choose_state(tx, draft)
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
                await self._count_and_announce(
                    tx, comment_id, draft.post, draft.by, draft.reply_to, draft.mention_ids
                )
            else:
                await self._outbox.add(tx, CommentKept(comment_id, draft.post.id, draft.by))
        log.info("comment.added", comment_id=comment_id, post_id=draft.post.id, state=state)
        return comment_id

    async def _find_earlier(self, tx: Transaction, draft: CheckedComment) -> CommentId | None:
        """The comment of an earlier request with the same key; the same text again within a minute is refused."""
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

    async def _lock_parent(self, tx: Transaction, draft: CheckedComment) -> dict[str, int | None]:
        """The columns that place a comment in its thread."""
        if draft.reply_to is None:
            return {"parent_id": None, "root_id": None, "depth": 0}
        row = await tx.fetch_one(QUERIES.lock_comment, comment_id=draft.reply_to)
        if row is None or row["state"] in {"deleted", "hidden"}:
            raise CommentNotFound
        return {
            "parent_id": row["id"],
            "root_id": row["root_id"] or row["id"],
            "depth": min(row["depth"] + 1, MAX_DEPTH),
        }

    async def _choose_state(self, tx: Transaction, draft: CheckedComment) -> CommentState:
        """Whether a new comment is visible, or held back by a word filter or because its author is restricted."""
        if draft.by == draft.post.author_id:
            return "visible"
        rows = await tx.fetch(QUERIES.list_filters, account_id=draft.post.author_id)
        if find_filtered_word(draft.text, [row["word"] for row in rows]) is not None:
            return "filtered"
        return "waiting" if draft.is_restricted else "visible"

    async def _count_and_announce(  # noqa: PLR0917 - the parts of one event
        self,
        tx: Transaction,
        comment_id: CommentId,
        post: Post,
        by: AccountId,
        parent_id: CommentId | None,
        mention_ids: tuple[AccountId, ...],
    ) -> None:
        """Count a comment that has become visible, and put its event into the outbox."""
        await self._posts.change_comment_count(tx, post.id, 1)
        parent_account: AccountId | None = None
        if parent_id is not None:
            parent = await tx.fetch_one(QUERIES.lock_comment, comment_id=parent_id)
            if parent is not None:
                parent_account = AccountId(parent["account_id"])
                root_id = parent["root_id"] or parent["id"]
                await tx.execute(QUERIES.change_thread_count, root_id=root_id, by=1)
        await self._outbox.add(
            tx,
            CommentAdded(comment_id, post.id, post.author_id, by, parent_id, parent_account, mention_ids),
        )
