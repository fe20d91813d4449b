"""Publishing a story and removing it: one transaction on the author's shard each."""

import hashlib
import math
from collections.abc import Sequence

import msgspec

from shardwright.routing import Shard, Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.base.text import clean_text
from tintype.stories.countdowns import cancel_countdown, set_countdown
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.element_validation import check_elements
from tintype.stories.elements import Poll, encode_elements, find_element, mentioned_ids, shared_post_ids
from tintype.stories.errors import (
    MentionedUserNotFound,
    StoryInvalid,
    StoryKeyReused,
    StoryMediaInvalid,
    StoryNotFound,
    TooManyStories,
)
from tintype.stories.events import StoryPublished, StoryRemoved
from tintype.stories.models import (
    LIFETIME,
    LONGEST_ALT_TEXT,
    LONGEST_TEXT,
    MAX_MENTIONS,
    Mention,
    NewStory,
    StoryId,
)
from tintype.stories.partitions import Partitions
from tintype.stories.shared_posts import SharedPosts
from tintype.stories.store import QUERIES, mention_ids

LONGEST_CLIP_MS = 61_000
"""A clip of 60 seconds, and the fraction that its last frame is shown."""
log = get_log("stories")


class Publish:
    """Publishes stories, and removes them before their time."""

    def __init__(self, deps: StoriesDependencies, partitions: Partitions, shared_posts: SharedPosts) -> None:
        self._deps, self._partitions, self._shared_posts = deps, partitions, shared_posts
        self._shards, self._outbox = deps.shards, deps.outbox

    async def publish(self, author_id: AccountId, story: NewStory, *, key: str | None = None) -> StoryId:
        """Publish a story, once however often a request with the same idempotency key is repeated."""
        story = _checked(story)
        body_hash = _hash(story)
        shard = self._shards.owner(author_id)
        earlier = await _find_earlier(shard, author_id, key, body_hash)
        if earlier is not None:
            return earlier
        mentioned = set(_mentioned(story))
        if mentioned - (await self._deps.visibility.find_accounts(author_id, mentioned)).keys():
            raise MentionedUserNotFound
        await self._shared_posts.check_shareable(shared_post_ids(story.elements), by=author_id)

        async def add() -> StoryId:
            async with shard.begin() as tx:
                return await self._add(tx, author_id, story, key, body_hash)

        story_id = await self._partitions.retry_with_partition(shard, add)
        await self._deps.author_stories.invalidate(author_id)
        await self._deps.media.invalidate([story.media_id])
        log.info("story.published", story_id=story_id, shard=shard.number)
        return story_id

    async def remove(self, story_id: StoryId, by: AccountId) -> None:
        """Nobody sees the story any more; copies in highlights stay, and keep its media."""
        author_id = await self._find_author(story_id)
        if author_id != by:
            raise StoryNotFound
        async with self._shards.owner(story_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_owner, author_id=author_id)
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            if row is None or row["removed_at"] is not None or not row["is_live"]:
                raise StoryNotFound
            change_id = await tx.fetch_value(QUERIES.remove_story, story_id=story_id)
            await cancel_countdown(tx, story_id)
            if not await tx.fetch_value(QUERIES.is_in_highlight, media_id=row["media_id"]):
                await self._deps.media.delete_in(tx, [MediaId(row["media_id"])])
            mentioned = mention_ids(row)
            await self._outbox.add(tx, StoryRemoved(story_id, author_id, change_id, mentioned))
        await self._deps.author_stories.invalidate(author_id)
        log.info("story.removed", story_id=story_id)

    async def on_media_changed(self, media_ids: Sequence[MediaId]) -> None:
        """Media changed, such as a clip that cannot be converted: invalidate their authors' cached stories."""
        wanted = [each for each in media_ids if has_shard(self._shards, each)]
        rows = await self._shards.gather(QUERIES.gather_media_owners, wanted) if wanted else ()
        await self._deps.author_stories.invalidate(*(AccountId(row["account_id"]) for row in rows))

    async def on_changed(self, event: StoryPublished | StoryRemoved) -> None:
        """Invalidate again, in case the process died after its commit or Redis was unavailable."""
        await self._deps.author_stories.invalidate_or_raise(event.author_id)

    async def _find_author(self, story_id: StoryId) -> AccountId:
        if not has_shard(self._shards, story_id):
            raise StoryNotFound
        found = await self._shards.owner(story_id).fetch_value(QUERIES.find_author, story_id=story_id)
        if found is None:
            raise StoryNotFound
        return AccountId(found)

    async def _add(
        self, tx: Transaction, author_id: AccountId, story: NewStory, key: str | None, body_hash: bytes
    ) -> StoryId:
        if await tx.fetch_one(QUERIES.lock_author, author_id=author_id) is None:
            raise AccountNotFound
        earlier = await _find_earlier(tx, author_id, key, body_hash)
        if earlier is not None:
            return earlier
        await self._check_daily_limit(tx, author_id)
        story_id = StoryId(
            await tx.fetch_value(QUERIES.add_story, **_columns(author_id, story, key, body_hash))
        )
        attached = await self._deps.media.attach(
            tx,
            author_id,
            [story.media_id],
            to=story_id,
            kind="story",
            max_duration_ms=LONGEST_CLIP_MS,
            lifetime=LIFETIME,
        )
        if not attached:
            raise StoryMediaInvalid
        await set_countdown(tx, story_id, author_id, story.elements)
        await self._outbox.add(tx, StoryPublished(story_id, author_id, _mentioned(story)))
        return story_id

    async def _check_daily_limit(self, tx: Transaction, author_id: AccountId) -> None:
        limit = self._deps.stories_per_day
        row = await tx.fetch_one(QUERIES.count_recent, author_id=author_id)
        if row is not None and row["stories"] >= limit:
            raise TooManyStories(f"At most {limit} stories a day.", retry_after_s=max(1, row["wait_s"]))


async def _find_earlier(
    where: Shard | Transaction, author_id: AccountId, key: str | None, body_hash: bytes
) -> StoryId | None:
    """The story that the same request made before: read once to answer a repeat cheaply, once under the lock."""
    if key is None:
        return None
    row = await where.fetch_one(QUERIES.find_by_key, author_id=author_id, idempotency_key=key)
    if row is None:
        return None
    if row["body_hash"] != body_hash:
        raise StoryKeyReused
    return StoryId(row["id"])


def _columns(author_id: AccountId, story: NewStory, key: str | None, body_hash: bytes) -> dict[str, object]:
    poll = find_element(story.elements, Poll)
    return {
        "author_id": author_id,
        "media_id": story.media_id,
        "audience": story.audience,
        "text": story.text,
        "alt_text": story.alt_text,
        "mentions": msgspec.json.encode(story.mentions).decode(),
        "replies_enabled": story.replies_enabled,
        "idempotency_key": key,
        "body_hash": body_hash,
        "elements": encode_elements(story.elements),
        "poll_counts": [0] * len(poll.choices) if poll else None,
    }


def _checked(story: NewStory) -> NewStory:
    """The story with its texts cleaned, or a refusal."""
    text, alt_text = clean_text(story.text), clean_text(story.alt_text)
    elements = check_elements(story.elements)
    named = [*(each.account_id for each in story.mentions), *mentioned_ids(elements)]
    people = set(named)
    if len(text) > LONGEST_TEXT or len(alt_text) > LONGEST_ALT_TEXT:
        raise StoryInvalid
    if len(people) != len(named) or len(people) > MAX_MENTIONS:
        raise StoryInvalid
    if not all(_is_inside(each) for each in story.mentions):
        raise StoryInvalid
    return msgspec.structs.replace(story, text=text, alt_text=alt_text, elements=elements)


def _mentioned(story: NewStory) -> tuple[AccountId, ...]:
    return (*(each.account_id for each in story.mentions), *mentioned_ids(story.elements))


def _hash(story: NewStory) -> bytes:
    """The hash of the request; without elements the same as in releases that had none, for repeats over an upgrade."""
    fields = msgspec.to_builtins(story)
    if not story.elements:
        del fields["elements"]
    return hashlib.sha256(msgspec.json.encode(fields)).digest()


def _is_inside(mention: Mention) -> bool:
    return all(math.isfinite(part) and 0 <= part <= 1 for part in (mention.x, mention.y))
