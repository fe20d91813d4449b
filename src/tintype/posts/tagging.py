"""The posts somebody is in: a mirror of tags on the tagged person's own shard, and the way out of a picture."""

from collections.abc import Iterable

from shardwright.running import Transaction
from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.posts.errors import PostNotFound
from tintype.posts.events import PostEdited, PostPublished, PostRemoved
from tintype.posts.reading import Reading
from tintype.posts.room import QUERIES, SERVER_AWAY

log = get_log("posts")


class Tagging(Reading):
    """Tags and their mirror."""

    async def untag(self, post_id: PostId, account_id: AccountId) -> None:
        """Take oneself out of the pictures of a post, for whatever reason; asking twice is no error."""
        await self.get(post_id, viewer=account_id)
        await self._untag(post_id, account_id)

    async def mirror_published(self, event: PostPublished) -> None:
        """A new post shows among those its people are in; safe to repeat and to reorder."""
        if event.is_new:
            await self._mirror_tags(event.post_id, event.post_id, added=event.tagged_ids)
        await self.forget(event.post_id)

    async def mirror_edited(self, event: PostEdited) -> None:
        """Who came into the pictures and who left them; safe to repeat and to reorder."""
        await self._mirror_tags(
            event.post_id, event.change_id, added=event.tagged_ids, removed=event.untagged_ids
        )
        await self.forget(event.post_id)

    async def mirror_removed(self, event: PostRemoved) -> None:
        """Nobody is in the pictures of a deleted post; safe to repeat and to reorder."""
        if event.is_deleted:
            await self._mirror_tags(event.post_id, event.change_id, removed=event.tagged_ids)
        await self.forget(event.post_id)

    async def _untag(self, post_id: PostId, account_id: AccountId) -> None:
        if not has_shard(self._shards, post_id):
            raise PostNotFound
        async with self._shards.owner(post_id).begin() as tx:
            post = await tx.fetch_one(QUERIES.lock_post, post_id=post_id)
            people = await list_tagged(tx, post_id)
            if post is None or not await tx.fetch(QUERIES.untag, post_id=post_id, account_id=account_id):
                return
            change_id = await tx.fetch_value(QUERIES.draw_change)
            rest = tuple(each for each in people if each != account_id)
            event = PostEdited(
                post_id,
                AccountId(post["author_id"]),
                change_id,
                tuple(post["hashtags"]),
                tuple(AccountId(each) for each in post["mention_ids"]),
                rest,
                post["place_id"],
                (account_id,),
            )
            await self._outbox.add(tx, event)
        await self.forget(post_id)
        await self._mirror_tags_at_once(post_id, change_id, removed=[account_id])

    async def _mirror_tags(
        self,
        post_id: PostId,
        change_id: int,
        *,
        added: Iterable[AccountId] = (),
        removed: Iterable[AccountId] = (),
    ) -> None:
        changes = {**dict.fromkeys(removed, False), **dict.fromkeys(added, True)}
        for account_id, is_active in changes.items():
            await self._shards.owner(account_id).execute(
                QUERIES.mirror_tag,
                account_id=account_id,
                post_id=post_id,
                change_id=change_id,
                is_active=is_active,
            )

    async def _mirror_tags_at_once(
        self,
        post_id: PostId,
        change_id: int,
        *,
        added: Iterable[AccountId] = (),
        removed: Iterable[AccountId] = (),
    ) -> None:
        """Both sides agree when the answer goes out; a side that is away is brought in line by the event."""
        try:
            await self._mirror_tags(post_id, change_id, added=added, removed=removed)
        except SERVER_AWAY as error:
            log.warning("tags.postponed", post_id=post_id, error=str(error))


async def list_tagged(tx: Transaction, post_id: PostId) -> tuple[AccountId, ...]:
    """Who is in the pictures of a post that the transaction has locked."""
    rows = await tx.fetch(QUERIES.list_tagged, post_id=post_id)
    return tuple(AccountId(row["account_id"]) for row in rows)
