"""The index of each person's likes (`own_likes`), on the person's own shard.

A request writes it right after its like has committed, so that people see their own likes at once. The handler of the
event asks, for a whole batch and with one read per server, which likes are not in the index, and writes only those: the
likes of processes that died in between, or whose shard was unavailable.
"""

from collections.abc import Iterable, Sequence

from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.base.shard_groups import group_by_shard
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.events import PostLiked
from tintype.posts.store import QUERIES, SHARD_UNAVAILABLE
from tintype.redis.viewer_invalidation import PostChange

log = get_log("posts")


class LikeIndex:
    """Writes the index; idempotent, and of several changes of one like the newest wins."""

    def __init__(self, dependencies: PostsDependencies) -> None:
        self._shards, self._viewer_invalidation = dependencies.shards, dependencies.viewer_invalidation

    async def try_write(self, event: PostLiked) -> None:
        """Index a like before the answer goes out; where the shard is unavailable, the event's handler does it.

        The caller then invalidates what is cached of the liker.
        """
        try:
            await self._shards.owner(event.account_id).execute(
                QUERIES.index_like,
                account_id=event.account_id,
                post_id=event.post_id,
                change_id=event.change_id,
                is_active=event.is_liked,
            )
        except SHARD_UNAVAILABLE as error:
            log.warning("like.postponed", post_id=event.post_id, error=str(error))

    async def repair(self, events: Iterable[PostLiked]) -> None:
        """Index those of the likes that are not in the index yet."""
        newest = newest_changes(events)
        missing = await self._find_missing(newest)
        for shard, likes in group_by_shard(self._shards, missing, lambda each: each.account_id):
            await shard.execute(
                QUERIES.index_likes,
                account_ids=[each.account_id for each in likes],
                post_ids=[each.post_id for each in likes],
                change_ids=[each.change_id for each in likes],
                are_active=[each.is_liked for each in likes],
            )
        if missing:
            log.info("likes.indexed", likes=len(missing))
        # Of all of them: a process may have died between the index and the invalidation.
        await self._viewer_invalidation.announce(
            (each.account_id, PostChange(each.post_id, each.change_id, each.is_liked)) for each in newest
        )

    async def _find_missing(self, newest: Sequence[PostLiked]) -> list[PostLiked]:
        people = list({each.account_id for each in newest})
        posts = list({each.post_id for each in newest})
        gathered = await self._shards.gather(QUERIES.gather_indexed_likes, people, post_ids=posts)
        indexed = {(row["account_id"], row["post_id"]): row["change_id"] for row in gathered.complete()}
        return [each for each in newest if indexed.get((each.account_id, each.post_id), 0) < each.change_id]


def newest_changes(events: Iterable[PostLiked]) -> list[PostLiked]:
    """The newest change of each like."""
    newest: dict[tuple[AccountId, PostId], PostLiked] = {}
    for each in events:
        known = newest.get((each.account_id, each.post_id))
        if known is None or known.change_id < each.change_id:
            newest[each.account_id, each.post_id] = each
    return list(newest.values())
