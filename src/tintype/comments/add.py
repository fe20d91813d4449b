"""Adding comments, and approving those that were held back."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import asyncpg

from shardwright.routing import Transaction
from tintype.accounts import Account
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.keyed_locks import KeyedLocks
from tintype.base.listeners import Listeners
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


class AddedComment(NamedTuple):
    """A comment that is stored. `is_whole`: all of it is known, since it is new and nothing holds it back."""

    id: CommentId
    text: str
    post_author_id: AccountId
    is_whole: bool


class CommentWriter:
    """Adds and approves comments."""

    def __init__(
        self,
        dependencies: CommentsDependencies,
        reader: CommentReader,
        added: Listeners[CommentAdded],
    ) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._posts, self._added = dependencies.posts, added
        self._locks: KeyedLocks[PostId] = KeyedLocks()
        self._mentions, self._limiter, self._reader = dependencies.mentions, dependencies.limiter, reader

    async def add(self, post_id: PostId, by: AccountId, draft: CommentDraft) -> CommentId:
        """Comment on a post; a repeated request with the same idempotency key returns the first one's comment."""
        return (await self._add(post_id, by, draft)).id

    async def add_and_show(self, post_id: PostId, by: Account, draft: CommentDraft) -> VisibleComment:
        """`add`, and the comment as its author sees it, which is not read again where one statement has added it."""
        added = await self._add(post_id, by.id, draft)
        if not added.is_whole:
            return await self._reader.get(added.id, viewer=by.id)
        comment = Comment(
            id=added.id,
            post_id=post_id,
            account_id=by.id,
            parent_id=None,
            parent_account_id=None,
            root_id=None,
            depth=0,
            text=added.text,
            state="visible",
            like_count=0,
            thread_count=0,
            is_pinned=False,
            viewer_has_liked=False,
            has_replies=False,
        )
        return VisibleComment(comment, by, None, added.post_author_id)

    async def _add(self, post_id: PostId, by: AccountId, draft: CommentDraft) -> AddedComment:
        text = clean_text(draft.text)
        if not 1 <= len(text) <= MAX_COMMENT_LENGTH:
            raise CommentInvalid
        if not has_shard(self._shards, post_id):
            raise PostNotFound
        mentioned = await self._mentions.resolve_new(by, text)
        mention_ids = tuple(dict.fromkeys(mentioned.values()))
        await self._limiter.acquire(COMMENT, by)
        post = await self._add_at_once(post_id, by, text, draft, mention_ids)
        if post is None:
            raise PostNotFound
        author_id, comment_id = AccountId(post["author_id"]), post["comment_id"]
        if comment_id is not None:
            return AddedComment(CommentId(comment_id), text, author_id, is_whole=True)
        if not post["comments_enabled"] and by != author_id:
            raise CommentsOff
        reply_to = draft.reply_to
        if reply_to is not None and (await self._reader.get(reply_to, viewer=by)).comment.post_id != post_id:
            raise CommentNotFound
        state = "visible" if by == author_id else _choose_state(text, post)
        checked = CheckedComment(post_id, author_id, by, text, reply_to, draft.key, state, mention_ids)
        return AddedComment(await self._insert_locked(checked), text, author_id, is_whole=False)

    async def _add_at_once(
        self,
        post_id: PostId,
        by: AccountId,
        text: str,
        draft: CommentDraft,
        mention_ids: tuple[AccountId, ...],
    ) -> asyncpg.Record | None:
        """Add a comment that nothing holds back, in one call.

        Returns what else decides about it where it was not added; None where there is no such post for this person.
        """
        shard = self._shards.owner(post_id)
        common: dict[str, Any] = {"post_id": post_id, "account_id": by}
        event = self._outbox.prepare(
            CommentAdded, last="comment_id", more=("post_author_id",), **common, mention_ids=mention_ids
        )
        async with self._locks.of(post_id):
            row = await shard.fetch_one(
                QUERIES.comment_at_once,
                **common,
                text=text,
                may_add=draft.reply_to is None,
                idempotency_key=draft.key,
                within_s=REPEATED_WITHIN_S,
                **event,
            )
        if row is not None and row["comment_id"] is not None:
            await self._outbox.wake(shard)
            await self._posts.invalidate_counts(post_id)
            comment_id, author_id = CommentId(row["comment_id"]), AccountId(row["author_id"])
            await self._added.notify(
                CommentAdded(comment_id, post_id, author_id, by, mention_ids=mention_ids)
            )
            log.debug("comment.added", comment_id=row["comment_id"], post_id=post_id, state="visible")
        return row

    async def approve(self, comment_id: CommentId, by: AccountId) -> None:
        """Show a comment that was held back; only the author of the post can do that."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None or found["post_author_id"] != by:
            raise CommentNotFound
        post = await self._posts.get(PostId(found["post_id"]), viewer=by)
        commenter_id = AccountId(found["account_id"])
        mentioned = await self._mentions.resolve(commenter_id, found["text"])
        async with self._shards.owner(comment_id).begin() as tx:
            await self._posts.lock(tx, post.id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] not in {"filtered", "waiting"}:
                return
            await tx.execute(QUERIES.set_state, comment_id=comment_id, state="visible")
            mention_ids = tuple(dict.fromkeys(mentioned.values()))
            await self._posts.change_comment_count(tx, post.id, 1)
            await self._announce(
                tx, comment_id, post.id, post.author_id, commenter_id, row["parent_id"], mention_ids
            )

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
        added = CommentAdded(comment_id, post_id, post_author_id, by, parent_id, parent_account, mention_ids)
        await self._outbox.add(tx, added)

        async def after_commit(_server: str) -> None:
            await self._added.notify(added)

        tx.after_commit(after_commit)


def _choose_state(text: str, post: asyncpg.Record) -> CommentState:
    """Whether a comment is visible, or held back by a word filter or because its author is restricted."""
    if post["filters"] and find_filtered_word(text, post["filters"]) is not None:
        return "filtered"
    return "waiting" if post["is_restricted"] else "visible"
