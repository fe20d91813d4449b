"""What remains and what goes: purging deleted posts, exports, and letting go of everything somebody left here."""

from collections.abc import AsyncIterator

import msgspec

from tintype.base.belongings import Record
from tintype.base.ids import AccountId, MediaId, PostId, has_shard
from tintype.base.log import get_log
from tintype.base.tallies import Tally
from tintype.posts.editing import Editing
from tintype.posts.events import PostPurged
from tintype.posts.liking import Liking
from tintype.posts.models import Post
from tintype.posts.room import QUERIES

log = get_log("posts")
BATCH = 100
SWEEP = 1_000
START = 2**63 - 1
LARGEST_PICTURE = "1080.jpg"


class Keeping(Editing, Liking):
    """The end of posts."""

    async def purge_deleted(self) -> None:
        """Posts deleted long ago go for good, with their pictures; so do traces of what was taken back long ago."""
        purged = 0
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            days = self._desk.rules.keep_deleted_days
            while rows := await shard.fetch(QUERIES.list_purgeable, days=days, limit=BATCH):
                for row in rows:
                    await self._purge(PostId(row["id"]))
                purged += len(rows)
            await shard.execute(QUERIES.sweep_own_likes, limit=SWEEP)
            await shard.execute(QUERIES.sweep_tagged_in, limit=SWEEP)
        if purged:
            log.info("posts.purged", posts=purged)

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Posts with their pictures, what the person likes, and the posts they are in."""
        after = 0
        shard = self._shards.owner(account_id)
        while rows := await shard.fetch(QUERIES.page_of_all, author_id=account_id, after=after, limit=BATCH):
            ids = [PostId(row["id"]) for row in rows]
            after = ids[-1]
            found = await self.find_any(ids)
            for post in (found[each] for each in ids if each in found):
                for record in self._records(post):
                    yield record
        async for record in self._export_likes(account_id):
            yield record
        async for record in self._export_tagged(account_id):
            yield record

    async def erase(self, account_id: AccountId) -> int:
        """Let go of some posts, likes and tags of one who leaves, wherever they lie."""
        return (
            await self._erase_posts(account_id)
            + await self._erase_likes(account_id)
            + await self._erase_tagged(account_id)
        )

    async def count_left(self, account_id: AccountId) -> int:
        """Posts, likes and tags of a person that are still here."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_left, account_id=account_id)

    def tallies(self) -> list[Tally]:
        """The counts of this room and how they are checked."""

        async def forget_post(post_id: int) -> None:
            await self.forget_counts(PostId(post_id))

        async def forget_author(account_id: int) -> None:
            await self._accounts.forget(AccountId(account_id))

        return [
            Tally(
                "likes",
                QUERIES.scan_likes,
                QUERIES.lock_counted_post,
                QUERIES.recount_likes,
                QUERIES.store_likes,
                settling=self._desk.likes.settling,
                repaired=forget_post,
            ),
            Tally(
                "posts",
                QUERIES.scan_posts,
                QUERIES.lock_counted_author,
                QUERIES.recount_posts,
                QUERIES.store_posts,
                repaired=forget_author,
            ),
        ]

    async def _purge(self, post_id: PostId) -> None:
        """One post is gone, in one transaction with its likes, tags and pictures; a repeat finds nothing."""
        async with self._shards.owner(post_id).begin() as tx:
            author_id = await tx.fetch_value(QUERIES.find_author, post_id=post_id)
            if author_id is None:
                return
            await tx.execute(QUERIES.purge_likes, post_id=post_id)
            await tx.execute(QUERIES.purge_tags, post_id=post_id)
            rows = await tx.fetch(QUERIES.purge_post_media, post_id=post_id)
            await tx.execute(QUERIES.purge_post, post_id=post_id)
            await self._desk.media.delete_in(tx, [MediaId(row["media_id"]) for row in rows])
            await self._outbox.add(tx, PostPurged(post_id, AccountId(author_id)))

    async def _erase_posts(self, account_id: AccountId) -> int:
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_erasable, author_id=account_id, limit=BATCH
        )
        for row in rows:
            post_id = PostId(row["id"])
            if post_id in await self.find_any([post_id]):
                await self.remove(post_id, account_id)
            await self._purge(post_id)
            await self.forget(post_id)
        return len(rows)

    async def _erase_likes(self, account_id: AccountId) -> int:
        home = self._shards.owner(account_id)
        rows = await home.fetch(QUERIES.list_own_likes, account_id=account_id, limit=BATCH)
        posts = [PostId(row["post_id"]) for row in rows]
        for post_id in posts:
            if has_shard(self._shards, post_id):
                await self._take_like_back(post_id, account_id)
        await home.execute(QUERIES.forget_own_likes, account_id=account_id, post_ids=posts)
        return len(posts)

    async def _take_like_back(self, post_id: PostId, account_id: AccountId) -> None:
        author_id = await self._shards.owner(post_id).fetch_value(QUERIES.find_author, post_id=post_id)
        if author_id is not None:
            await self._change_like(post_id, AccountId(author_id), account_id, is_liked=False)

    async def _erase_tagged(self, account_id: AccountId) -> int:
        home = self._shards.owner(account_id)
        rows = await home.fetch(QUERIES.list_tagged_in, account_id=account_id, limit=BATCH)
        posts = [PostId(row["post_id"]) for row in rows]
        for post_id in posts:
            await self._untag(post_id, account_id)
        await home.execute(QUERIES.forget_tagged_in, account_id=account_id, post_ids=posts)
        return len(posts)

    def _records(self, post: Post) -> list[Record]:
        about = _told(post) | {"created_at": self._shards.map.layout.id_time(post.id).isoformat()}
        pictures = [
            Record(
                "media.json",
                {"post_id": str(post.id), "media_id": str(item.media_id), "alt_text": item.alt_text},
                f"{item.folder}/{LARGEST_PICTURE}",
            )
            for item in post.media
        ]
        return [Record("posts.json", about), *pictures]

    async def _export_likes(self, account_id: AccountId) -> AsyncIterator[Record]:
        before = START
        while rows := await self._shards.owner(account_id).fetch(
            QUERIES.page_own_likes, account_id=account_id, before=before, limit=BATCH
        ):
            for row in rows:
                liked_at = self._shards.map.layout.id_time(row["change_id"]).isoformat()
                yield Record("likes.json", {"post_id": str(row["post_id"]), "liked_at": liked_at})
            before = rows[-1]["change_id"]

    async def _export_tagged(self, account_id: AccountId) -> AsyncIterator[Record]:
        before = START
        while rows := await self._shards.owner(account_id).fetch(
            QUERIES.page_tagged_in, account_id=account_id, before=before, limit=BATCH
        ):
            for row in rows:
                yield Record("tagged_in.json", {"post_id": str(row["post_id"])})
            before = rows[-1]["post_id"]


def _told(post: Post) -> dict[str, object]:
    """A post as its author takes it along."""
    return {
        "post_id": str(post.id),
        "caption": post.caption,
        "hashtags": list(post.hashtags),
        "place": msgspec.to_builtins(post.place),
        "media_ids": [str(item.media_id) for item in post.media],
        "tagged_ids": [str(each) for each in post.tagged_ids],
        "edited_at": post.edited_at.isoformat() if post.edited_at else None,
        "is_archived": post.is_archived,
        "like_count": post.like_count,
        "comment_count": post.comment_count,
    }
