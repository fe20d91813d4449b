"""Publishing: one transaction on the author's shard takes the pictures, writes the post and counts it."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from shardwright.running import Shard, Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.base.log import get_log
from tintype.posts.checking import check_draft
from tintype.posts.composing import Composed, Composer
from tintype.posts.errors import AltTextInvalid, IdempotencyKeyReused, MediaInvalid, TagsInvalid, TooManyPosts
from tintype.posts.events import PostPublished
from tintype.posts.models import Draft, Item, Place, Tagged
from tintype.posts.room import QUERIES, Desk
from tintype.posts.tagging import Tagging

log = get_log("posts")
Listener = Callable[[PostPublished], Awaitable[None]]


@dataclass(frozen=True)
class Key:
    """An idempotency key, if there is one, and the hash of the request that came with it."""

    text: str | None
    body_hash: bytes


class Publishing(Tagging):
    """New posts."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._composer = Composer(desk.accounts, desk.graph, desk.sight, desk.cache)
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call this, too, right after a post has come into sight; the event says the same later."""
        self._listeners.append(listener)

    async def publish(
        self,
        author_id: AccountId,
        media_ids: Sequence[MediaId],
        *,
        caption: str = "",
        alt_texts: Sequence[str] = (),
        tagged: Sequence[Sequence[Tagged]] = (),
        place: Place | None = None,
        comments_enabled: bool = True,
        hides_like_count: bool = False,
        idempotency_key: str | None = None,
    ) -> PostId:
        """Publish a post once, however often a request with the same key is repeated.

        `alt_texts` and `tagged` go with the pictures in their order and may be shorter.
        """
        draft = check_draft(
            Draft(
                items=_items(media_ids, alt_texts, tagged),
                caption=caption,
                place=place,
                comments_enabled=comments_enabled,
                hides_like_count=hides_like_count,
            )
        )
        key = Key(idempotency_key, hashlib.sha256(msgspec.json.encode(draft)).digest())
        earlier = await _find_earlier(self._shards.owner(author_id), author_id, key)
        if earlier is not None:
            return earlier
        composed = await self._composer.compose(author_id, draft.caption)
        people = [each.account_id for item in draft.items for each in item.tagged]
        await self._composer.check_taggable(author_id, people)
        return await self._publish(author_id, draft, composed, key)

    async def _publish(self, author_id: AccountId, draft: Draft, composed: Composed, key: Key) -> PostId:
        shard = self._shards.owner(author_id)
        async with shard.begin() as tx:
            if await tx.fetch_one(QUERIES.lock_author, author_id=author_id) is None:
                raise AccountNotFound
            earlier = await _find_earlier(tx, author_id, key)
            if earlier is not None:
                return earlier
            await self._check_day(tx, author_id)
            post_id = await _insert(tx, author_id, draft, composed, key)
            published = _announcement(post_id, author_id, draft, composed)
            await self._outbox.add(tx, published)
        log.info("post.published", post_id=post_id, shard=shard.number)
        await self._accounts.forget(author_id)
        await self._mirror_tags_at_once(post_id, post_id, added=published.tagged_ids)
        await self._tell(published)
        return post_id

    async def _tell(self, published: PostPublished) -> None:
        for listener in self._listeners:
            await listener(published)

    async def _check_day(self, tx: Transaction, author_id: AccountId) -> None:
        most = self._desk.rules.posts_per_day
        row = await tx.fetch_one(QUERIES.count_recent, author_id=author_id, most=most)
        if row is not None and row["posts"] >= most:
            raise TooManyPosts(f"At most {most} posts a day.", retry_after_s=max(1, row["wait_s"]))


async def _find_earlier(where: Shard | Transaction, author_id: AccountId, key: Key) -> PostId | None:
    """What the same request has made before; asked once to answer it cheaply and once under the lock, to be sure."""
    if key.text is None:
        return None
    row = await where.fetch_one(QUERIES.find_by_key, author_id=author_id, idempotency_key=key.text)
    if row is None:
        return None
    if row["body_hash"] not in {None, key.body_hash}:
        raise IdempotencyKeyReused
    return PostId(row["id"])


async def _insert(
    tx: Transaction,
    author_id: AccountId,
    draft: Draft,
    composed: Composed,
    key: Key,
) -> PostId:
    post_id = PostId(
        await tx.fetch_value(
            QUERIES.publish,
            author_id=author_id,
            **columns_of(composed, draft.place),
            comments_enabled=draft.comments_enabled,
            hides_like_count=draft.hides_like_count,
            idempotency_key=key.text,
            body_hash=key.body_hash,
        )
    )
    media_ids = [item.media_id for item in draft.items]
    taken = await tx.fetch(QUERIES.take_media, post_id=post_id, media_ids=media_ids, author_id=author_id)
    if len(taken) != len(media_ids):
        raise MediaInvalid
    alt_texts = [item.alt_text for item in draft.items]
    await tx.execute(QUERIES.add_post_media, post_id=post_id, media_ids=media_ids, alt_texts=alt_texts)
    tags = [(place, each) for place, item in enumerate(draft.items, start=1) for each in item.tagged]
    await add_tags(tx, post_id, tags)
    await tx.execute(QUERIES.count_posts, author_id=author_id, delta=1)
    return post_id


async def add_tags(tx: Transaction, post_id: PostId, tags: Sequence[tuple[int, Tagged]]) -> None:
    """People are in the pictures with these positions."""
    if tags:
        await tx.execute(
            QUERIES.add_tags,
            post_id=post_id,
            positions=[place for place, _ in tags],
            account_ids=[each.account_id for _, each in tags],
            xs=[each.x for _, each in tags],
            ys=[each.y for _, each in tags],
        )


def columns_of(composed: Composed, place: Place | None) -> dict[str, object]:
    """A caption and a place as they are stored."""
    return {
        "caption": composed.caption,
        "spans": msgspec.json.encode(composed.spans).decode(),
        "hashtags": list(composed.hashtags),
        "mention_ids": list(composed.mention_ids),
        "place_id": place.id if place else None,
        "place_name": place.name if place else None,
        "lat": place.lat if place else None,
        "lon": place.lon if place else None,
    }


def _items(
    media_ids: Sequence[MediaId], alt_texts: Sequence[str], tagged: Sequence[Sequence[Tagged]]
) -> tuple[Item, ...]:
    if len(alt_texts) > len(media_ids):
        raise AltTextInvalid
    if len(tagged) > len(media_ids):
        raise TagsInvalid
    return tuple(
        Item(
            media_id,
            alt_texts[number] if number < len(alt_texts) else "",
            tuple(tagged[number]) if number < len(tagged) else (),
        )
        for number, media_id in enumerate(media_ids)
    )


def _announcement(post_id: PostId, author_id: AccountId, draft: Draft, composed: Composed) -> PostPublished:
    people = dict.fromkeys(each.account_id for item in draft.items for each in item.tagged)
    place_id = draft.place.id if draft.place else None
    return PostPublished(post_id, author_id, composed.hashtags, composed.mention_ids, tuple(people), place_id)
