"""Publishing: one statement on the author's shard attaches the media, writes the post and counts it."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import asyncpg
import msgspec

from shardwright.routing import Shard, Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, PostId
from tintype.base.listeners import Listeners
from tintype.base.log import get_log
from tintype.posts.caption import Caption, CaptionParser
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import IdempotencyKeyReused, MediaInvalid, TooManyPosts
from tintype.posts.events import PostPublished
from tintype.posts.models import PersonTag, Place, Post, PostDraft, PostMedia
from tintype.posts.store import QUERIES
from tintype.posts.tags import PersonTags, TagChanges, add_tags, tag_columns

log = get_log("posts")


@dataclass(frozen=True)
class RequestKey:
    """The idempotency key of a request, if it has one, and the hash of the request's body."""

    text: str | None
    body_hash: bytes


class PublishedPost(NamedTuple):
    """What a request to publish has led to; an earlier request with the same idempotency key may have done it."""

    post_id: PostId
    is_new: bool
    post: Post | None = None
    """The new post as its author sees it, where the statement that wrote it has returned all of it."""


class PostPublisher:
    """Publishes posts."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        tags: PersonTags,
        captions: CaptionParser,
        published: Listeners[PostPublished],
    ) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._accounts, self._media = dependencies.accounts, dependencies.media
        self._posts_per_day = dependencies.settings.posts_per_day
        self._tags, self._captions, self._published = tags, captions, published

    async def publish(self, author_id: AccountId, draft: PostDraft, key_text: str | None) -> PublishedPost:
        """Publish a valid draft; a repeated request with the same idempotency key returns the first one's post."""
        key = RequestKey(key_text, hashlib.sha256(msgspec.json.encode(draft)).digest())
        shard = self._shards.owner(author_id)
        earlier = await find_earlier(shard, author_id, key)
        if earlier is not None:
            return PublishedPost(earlier, is_new=False)
        caption = await self._captions.parse(author_id, draft.caption)
        await self._tags.check_taggable(author_id, draft.tagged_ids)
        row = await self._publish_at_once(shard, author_id, draft, caption, key)
        if row is None:
            return await self._publish_locked(shard, author_id, draft, caption, key)
        await self._media.forget_access([item.media_id for item in draft.media])
        event = _event(PostId(row["id"]), author_id, draft, caption)
        return await self.finish(event, _new_post(event, draft, caption, row))

    async def _publish_at_once(
        self, shard: Shard, author_id: AccountId, draft: PostDraft, caption: Caption, key: RequestKey
    ) -> asyncpg.Record | None:
        """Publish in one call; None where the author's lock must be taken first."""
        event = self._outbox.prepare(
            PostPublished,
            last="post_id",
            more=("has_video",),
            media_count=len(draft.media),
            author_id=author_id,
            hashtags=caption.hashtags,
            mention_ids=caption.mention_ids,
            tagged_ids=draft.tagged_ids,
            place_id=draft.place.id if draft.place else None,
        )
        row = await shard.fetch_one(
            QUERIES.publish_at_once,
            author_id=author_id,
            limit=self._posts_per_day,
            **caption_columns(caption, draft.place),
            comments_enabled=draft.comments_enabled,
            hides_like_count=draft.hides_like_count,
            shows_camera=_choice(draft.shows_camera),
            idempotency_key=key.text,
            body_hash=key.body_hash,
            **_media_columns(draft),
            **tag_columns(_tags(draft)),
            **event,
        )
        if row is not None:
            await self._outbox.wake(shard)
        return row

    async def _publish_locked(
        self, shard: Shard, author_id: AccountId, draft: PostDraft, caption: Caption, key: RequestKey
    ) -> PublishedPost:
        async with shard.begin() as tx:
            await self.lock_author(tx, author_id)
            earlier = await find_earlier(tx, author_id, key)
            if earlier is not None:
                return PublishedPost(earlier, is_new=False)
            event = await self.publish_in(tx, author_id, draft, caption, key)
        return await self.finish(event)

    async def lock_author(self, tx: Transaction, author_id: AccountId) -> None:
        """Lock the author's account, which makes the daily limit and the count of posts exact; it must be active."""
        author = await self._accounts.lock(tx, author_id)
        if author is None or author.status != "active":
            raise AccountNotFound

    async def publish_in(
        self, tx: Transaction, author_id: AccountId, draft: PostDraft, caption: Caption, key: RequestKey
    ) -> PostPublished:
        """Publish in a transaction that has locked the author; call `finish` with the event after the commit."""
        await self._check_daily_limit(tx, author_id)
        post_id = await self._insert(tx, author_id, draft, caption, key)
        event = _event(post_id, author_id, draft, caption)
        await self._outbox.add(tx, event)
        return event

    async def finish(self, event: PostPublished, post: Post | None = None) -> PublishedPost:
        """What follows the commit, before the author gets the answer; handlers of the event do the same."""
        log.debug("post.published", post_id=event.post_id, shard=self._shards.shard_of(event.post_id))
        await self._accounts.invalidate_counts(event.author_id)
        await self._tags.try_index(event.post_id, event.post_id, TagChanges(added=event.tagged_ids))
        await self._published.notify(event)
        return PublishedPost(event.post_id, is_new=True, post=post)

    async def _check_daily_limit(self, tx: Transaction, author_id: AccountId) -> None:
        limit = self._posts_per_day
        row = await tx.fetch_one(QUERIES.count_recent, author_id=author_id, limit=limit)
        if row is not None and row["posts"] >= limit:
            raise TooManyPosts(
                f"You can publish {limit} posts a day.", retry_after_s=max(1, row["retry_after_s"])
            )

    async def _insert(
        self, tx: Transaction, author_id: AccountId, draft: PostDraft, caption: Caption, key: RequestKey
    ) -> PostId:
        post_id = PostId(
            await tx.fetch_value(
                QUERIES.add_post,
                author_id=author_id,
                **caption_columns(caption, draft.place),
                comments_enabled=draft.comments_enabled,
                hides_like_count=draft.hides_like_count,
                shows_camera=_choice(draft.shows_camera),
                idempotency_key=key.text,
                body_hash=key.body_hash,
            )
        )
        media_ids = [item.media_id for item in draft.media]
        if len(await self._media.attach(tx, author_id, media_ids, to=post_id)) != len(media_ids):
            raise MediaInvalid
        await tx.execute(QUERIES.add_post_media, post_id=post_id, **_media_columns(draft))
        await add_tags(tx, post_id, _tags(draft))
        await self._accounts.change_post_count(tx, author_id, 1)
        return post_id


async def find_earlier(where: Shard | Transaction, author_id: AccountId, key: RequestKey) -> PostId | None:
    """The post of an earlier request with this key; read first without the author's lock, then again under it."""
    if key.text is None:
        return None
    row = await where.fetch_one(QUERIES.find_by_key, author_id=author_id, idempotency_key=key.text)
    if row is None:
        return None
    if row["body_hash"] not in {None, key.body_hash}:
        raise IdempotencyKeyReused
    return PostId(row["id"])


def caption_columns(caption: Caption, place: Place | None) -> dict[str, object]:
    """A caption and a place as columns of `posts`."""
    return {
        "caption": caption.text,
        "spans": msgspec.json.encode(caption.spans).decode(),
        "hashtags": list(caption.hashtags),
        "mention_ids": list(caption.mention_ids),
        "place_id": place.id if place else None,
        "place_name": place.name if place else None,
        "lat": place.lat if place else None,
        "lon": place.lon if place else None,
    }


def _media_columns(draft: PostDraft) -> dict[str, object]:
    return {
        "media_ids": [item.media_id for item in draft.media],
        "alt_texts": [item.alt_text for item in draft.media],
    }


def _tags(draft: PostDraft) -> list[tuple[int, PersonTag]]:
    """The people tagged, each with the position of the photo."""
    return [(position, each) for position, item in enumerate(draft.media, start=1) for each in item.tagged]


def _choice(value: bool | msgspec.UnsetType) -> bool | None:
    """A choice as a parameter; NULL where the draft does not say."""
    return None if value is msgspec.UNSET else value


def _new_post(event: PostPublished, draft: PostDraft, caption: Caption, row: asyncpg.Record) -> Post | None:
    """The post that was published; None where it must be read, since its tags are rounded when they are stored."""
    if event.tagged_ids:
        return None
    return Post(
        id=event.post_id,
        author_id=event.author_id,
        caption=caption.text,
        media=msgspec.json.decode(row["media"], type=tuple[PostMedia, ...]),
        spans=caption.spans,
        hashtags=caption.hashtags,
        mention_ids=caption.mention_ids,
        place=draft.place,
        comments_enabled=draft.comments_enabled,
        hides_like_count=draft.hides_like_count,
        shows_camera=row["shows_camera"],
    )


def _event(post_id: PostId, author_id: AccountId, draft: PostDraft, caption: Caption) -> PostPublished:
    place_id = draft.place.id if draft.place else None
    return PostPublished(
        post_id, author_id, caption.hashtags, caption.mention_ids, draft.tagged_ids, place_id
    )
