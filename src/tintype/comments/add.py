"""Adding comments, and approving those that were held back."""

from dataclasses import dataclass
from typing import Any

import asyncpg

from shardwright.routing import Transaction
from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.keyed_locks import KeyedLocks
from tintype.base.log import get_log
from tintype.base.rate_limits import COMMENT
from tintype.base.text import clean_text
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentInvalid, CommentNotFound, CommentRepeated, CommentsOff
from tintype.comments.events import CommentAdded, CommentKept
from tintype.comments.models import (
    MAX_COMMENT_LENGTH,
    MAX_DEPTH,
    Comment,
    CommentDraft,
    CommentState,
    VisibleComment,
)
from tintype.comments.reader import CommentReader
from tintype.comments.store import QUERIES
from tintype.comments.word_filter import find_filtered_word
from tintype.posts import PostNotFound

REPEATED_WITHIN_S = 60
log = get_log("comments")


@dataclass(frozen=True)
class CheckedComment:
    """A comment that may be stored, and the state that it begins with."""

    post_id: PostId
    post_author_id: AccountId
    by: AccountId
    text: str
    reply_to: CommentId | None
    key: str | None
    state: CommentState
    mention_ids: tuple[AccountId, ...]


class CommentWriter:
    """Adds and approves comments."""

    def __init__(self, dependencies: CommentsDependencies, reader: CommentReader) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._posts = dependencies.posts
        self._locks: KeyedLocks[PostId] = KeyedLocks()
        self._mentions, self._limiter, self._reader = dependencies.mentions, dependencies.limiter, reader

    async def add(self, post_id: PostId, by: AccountId, draft: CommentDraft) -> CommentId:
        """Comment on a post; a repeated request with the same idempotency key returns the first one's comment."""
        return await self._insert(await self._check(post_id, by, draft))

    async def add_and_show(self, post_id: PostId, by: Account, draft: CommentDraft) -> VisibleComment:
        """`add`, and the comment as its author sees it, which is not read again where it is new."""
        checked = await self._check(post_id, by.id, draft)
        comment_id = await self._insert_at_once(checked)
        if comment_id is None:
            return await self._reader.get(await self._insert_locked(checked), viewer=by.id)
        comment = Comment(
            id=comment_id,
            post_id=post_id,
            account_id=by.id,
            parent_id=None,
            parent_account_id=None,
            root_id=None,
            depth=0,
            text=checked.text,
            state=checked.state,
            like_count=0,
            thread_count=0,
            is_pinned=False,
            viewer_has_liked=False,
            has_replies=False,
        )
        return VisibleComment(comment, by, None, checked.post_author_id)

    async def _check(self, post_id: PostId, by: AccountId, draft: CommentDraft) -> CheckedComment:
        text, reply_to = clean_text(draft.text), draft.reply_to
        if not 1 <= len(text) <= MAX_COMMENT_LENGTH:
            raise CommentInvalid
        post = await self._read_post(post_id, by)
        author_id = AccountId(post["author_id"])
        if not post["comments_enabled"] and by != author_id:
            raise CommentsOff
        if reply_to is not None and (await self._reader.get(reply_to, viewer=by)).comment.post_id != post_id:
            raise CommentNotFound
        await self._limiter.acquire(COMMENT, by)
        mentioned = await self._mentions.resolve_new(by, text)
        mention_ids = tuple(dict.fromkeys(mentioned.values()))
        state = "visible" if by == author_id else _choose_state(text, post)
        return CheckedComment(post_id, author_id, by, text, reply_to, draft.key, state, mention_ids)

    async def _read_post(self, post_id: PostId, by: AccountId) -> asyncpg.Record:
        """What decides whether and how somebody may comment, in one read; `PostNotFound` unless they see the post."""
        post = None
        if has_shard(self._shards, post_id):
            post = await self._shards.owner(post_id).fetch_one(
                QUERIES.read_before_comment, post_id=post_id, account_id=by
            )
        if post is None:
            raise PostNotFound
        return post

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
            await self._posts.change_comment_count(tx, post.id, 1)
            await self._announce(
                tx, comment_id, post.id, post.author_id, commenter_id, row["parent_id"], mention_ids
            )

    async def _insert(self, draft: CheckedComment) -> CommentId:
        comment_id = await self._insert_at_once(draft)
        return comment_id if comment_id is not None else await self._insert_locked(draft)

    async def _insert_at_once(self, draft: CheckedComment) -> CommentId | None:
        """Store a comment in one call; None where it replies to another, or the post's lock must be taken first."""
        if draft.reply_to is not None:
            return None
        shard = self._shards.owner(draft.post_id)
        common: dict[str, Any] = {"post_id": draft.post_id, "account_id": draft.by}
        if draft.state == "visible":
            event = self._outbox.prepare(
                CommentAdded,
                last="comment_id",
                **common,
                post_author_id=draft.post_author_id,
                mention_ids=draft.mention_ids,
            )
        else:
            event = self._outbox.prepare(CommentKept, last="comment_id", **common)
        async with self._locks.of(draft.post_id):
            comment_id: int | None = await shard.fetch_value(
                QUERIES.comment_at_once,
                **common,
                text=draft.text,
                state=draft.state,
                idempotency_key=draft.key,
                within_s=REPEATED_WITHIN_S,
                **event,
            )
        if comment_id is None:
            return None
        await self._outbox.wake(shard)
        if draft.state == "visible":
            await self._posts.invalidate_counts(draft.post_id)
        log.debug("comment.added", comment_id=comment_id, post_id=draft.post_id, state=draft.state)
        return CommentId(comment_id)

    async def _insert_locked(self, draft: CheckedComment) -> CommentId:
        async with self._shards.owner(draft.post_id).begin() as tx:
            # The lock on the post makes its count exact, and lets the second of two equal comments see the first.
            if not await self._posts.lock(tx, draft.post_id):
                raise PostNotFound
            earlier = await self._find_earlier(tx, draft)
            if earlier is not None:
                return earlier
            parent = await self._lock_parent(tx, draft)
            comment_id = CommentId(
                await tx.fetch_value(
                    QUERIES.add_comment,
                    post_id=draft.post_id,
                    account_id=draft.by,
                    text=draft.text,
                    state=draft.state,
                    idempotency_key=draft.key,
                    **parent,
                )
            )
            # Also where nothing is counted: `comment_at_once` relies on the new version of the post's row.
            await self._posts.change_comment_count(tx, draft.post_id, int(draft.state == "visible"))
            if draft.state == "visible":
                await self._announce(
                    tx,
                    comment_id,
                    draft.post_id,
                    draft.post_author_id,
                    draft.by,
                    draft.reply_to,
                    draft.mention_ids,
                )
            else:
                await self._outbox.add(tx, CommentKept(comment_id, draft.post_id, draft.by))
        log.debug("comment.added", comment_id=comment_id, post_id=draft.post_id, state=draft.state)
        return comment_id

    async def _find_earlier(self, tx: Transaction, draft: CheckedComment) -> CommentId | None:
        """The comment of an earlier request with the same key; the same text again within a minute is refused."""
        if draft.key is not None:
            row = await tx.fetch_one(QUERIES.find_by_key, account_id=draft.by, idempotency_key=draft.key)
            if row is not None and (row["post_id"], row["text"]) != (draft.post_id, draft.text):
                raise CommentRepeated("That Idempotency-Key was used for another comment.")
            if row is not None:
                return CommentId(row["id"])
        repeated = await tx.fetch_one(
            QUERIES.find_repeated,
            account_id=draft.by,
            post_id=draft.post_id,
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

    async def _announce(  # noqa: PLR0917 - the parts of one event
        self,
        tx: Transaction,
        comment_id: CommentId,
        post_id: PostId,
        post_author_id: AccountId,
        by: AccountId,
        parent_id: CommentId | None,
        mention_ids: tuple[AccountId, ...],
    ) -> None:
        """Count a comment that has become visible in its thread, and put its event into the outbox."""
        parent_account: AccountId | None = None
        if parent_id is not None:
            parent = await tx.fetch_one(QUERIES.lock_comment, comment_id=parent_id)
            if parent is not None:
                parent_account = AccountId(parent["account_id"])
                root_id = parent["root_id"] or parent["id"]
                await tx.execute(QUERIES.change_thread_count, root_id=root_id, by=1)
        await self._outbox.add(
            tx,
            CommentAdded(comment_id, post_id, post_author_id, by, parent_id, parent_account, mention_ids),
        )


def _choose_state(text: str, post: asyncpg.Record) -> CommentState:
    """Whether a comment is visible, or held back by a word filter or because its author is restricted."""
    if find_filtered_word(text, post["filters"]) is not None:
        return "filtered"
    return "waiting" if post["is_restricted"] else "visible"
