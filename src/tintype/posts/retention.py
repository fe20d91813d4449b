"""Purging: posts that were deleted long ago go for good, and with them old removed rows of the indexes."""

from tintype.base.ids import AccountId, MediaId, PostId
from tintype.base.log import get_log
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.events import PostPurged
from tintype.posts.store import QUERIES

log = get_log("posts")
BATCH = 100
SWEEP = 1_000


class PostRetention:
    """Purges posts whose retention time is over."""

    def __init__(self, dependencies: PostsDependencies) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._media, self._keep_days = dependencies.media, dependencies.settings.keep_deleted_days

    async def purge_deleted(self) -> None:
        """Purge posts deleted long ago with their media, and sweep index rows of old unlikes and removed tags."""
        purged = 0
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.list_purgeable, days=self._keep_days, limit=BATCH):
                for row in rows:
                    await self.purge(PostId(row["id"]))
                purged += len(rows)
            await shard.execute(QUERIES.sweep_own_likes, limit=SWEEP)
            await shard.execute(QUERIES.sweep_tagged_in, limit=SWEEP)
        if purged:
            log.info("posts.purged", posts=purged)

    async def purge(self, post_id: PostId) -> None:
        """Remove every row of a post and delete its media, in one transaction; idempotent."""
        async with self._shards.owner(post_id).begin() as tx:
            author_id = await tx.fetch_value(QUERIES.find_author, post_id=post_id)
            if author_id is None:
                return
            await tx.execute(QUERIES.purge_likes, post_id=post_id)
            await tx.execute(QUERIES.purge_tags, post_id=post_id)
            rows = await tx.fetch(QUERIES.purge_post_media, post_id=post_id)
            await tx.execute(QUERIES.purge_post, post_id=post_id)
            await self._media.delete_in(tx, [MediaId(row["media_id"]) for row in rows])
            await self._outbox.add(tx, PostPurged(post_id, AccountId(author_id)))
