"""Finding posts by the words of their captions.

A word's posts are together on the shard that the word hashes to, so a search reads one shard: the list of its longest
word, newest first; the other words filter the same rows, which hold all words of their caption. Only posts that
everybody may see are listed, and posts are shown through `Posts` as the viewer sees them.
"""

import random
from collections.abc import Mapping, Sequence

import asyncpg
import msgspec

from shardwright.routing import Shard
from tintype.base.ids import LARGEST_ID, AccountId, PostId, has_shard
from tintype.base.pages import Page, fill_page
from tintype.base.replica_reads import replica_reader
from tintype.base.shard_groups import gather_rows, read_by_shard, run_by_shard
from tintype.posts import Post
from tintype.search.dependencies import SearchDependencies
from tintype.search.index_writer import EntriesByKey, IndexedSubject, IndexEntry, IndexWriter, Read
from tintype.search.normalize import caption_words, typed_words
from tintype.search.public_posts import is_public_post
from tintype.search.store import QUERIES

KIND = "caption"
KEY = "word:"
MAX_LISTED = 10_000
"""A word lists so many of its newest posts."""
TRIM_ONE_IN = 100
"""How many writes of a word there are to one that removes what is too old, on average."""


class Captions:
    """Captions of public posts in the search index."""

    def __init__(self, deps: SearchDependencies) -> None:
        self._shards, self._posts = deps.shards, deps.posts
        self._writer = IndexWriter(deps.shards)

    async def find(
        self, text: str, *, viewer: AccountId | None, before: int = LARGEST_ID, limit: int
    ) -> Page[Post]:
        """A page of posts whose captions have these words, the newest first; the longest must be written out."""
        lead, *others = typed_words(text) or [""]
        patterns = [f"% {word}%" for word in others]
        shard = replica_reader(self._shards).of(KEY + lead)

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await shard.fetch(
                QUERIES.page_caption_word, word=lead, others=patterns, before=before, limit=limit
            )
            return [(PostId(row["post_id"]), row["post_id"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            return await self._posts.find_many(ids, viewer=viewer)

        if not lead:
            return Page([], None)
        return await fill_page(fetch, show, before=before, limit=limit)

    async def index_new(self, posts: Sequence[tuple[PostId, AccountId]]) -> None:
        """`index` for posts that were never listed, in few statements: their keys are recorded as their runs begin."""
        authors = {post: author for post, author in posts if has_shard(self._shards, post)}
        rows = await read_by_shard(self._shards, QUERIES.gather_captions, authors)
        read = [_NewCaption(row["id"], authors[row["id"]], _words(row)) for row in rows]
        begun = await self._begin([each for each in read if each.words])
        await self._list(begun)
        is_ended = await self._end(begun)
        for each in read:
            if each.words and each.post_id not in is_ended:  # another run has begun before or meanwhile
                await self.index(each.post_id, each.author_id)

    async def index(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under the words of its caption, as far as it is public now; safe to repeat and to reorder."""

        async def read() -> EntriesByKey:
            rows = await gather_rows(self._shards, QUERIES.gather_captions, [post_id])
            words = _words(rows[0]) if rows else []
            listed = [IndexEntry("", _joined(words), 0)]
            return {KEY + word: listed for word in words}

        if has_shard(self._shards, post_id):
            await self._run(post_id, author_id, read)

    async def remove(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under no word."""

        async def read() -> EntriesByKey:
            return {}

        await self._run(post_id, author_id, read)

    async def _begin(self, captions: Sequence["_NewCaption"]) -> dict[int, tuple["_NewCaption", int]]:
        """Begin the first runs of these posts, by post with their revisions; not where there has been a run."""
        begun: dict[int, tuple[_NewCaption, int]] = {}

        async def begin(shard: Shard, own: list[_NewCaption]) -> None:
            rows = await shard.fetch(
                QUERIES.begin_captions,
                kind=KIND,
                subjects=[str(each.post_id) for each in own],
                owners=[each.author_id for each in own],
                keys=[" ".join(sorted(KEY + word for word in each.words)) for each in own],
            )
            by_subject = {str(each.post_id): each for each in own}
            for row in rows:
                found = by_subject[row["subject"]]
                begun[found.post_id] = (found, row["revision"])

        await run_by_shard(self._shards, captions, lambda each: each.post_id, begin)
        return begun

    async def _list(self, begun: Mapping[int, tuple["_NewCaption", int]]) -> None:
        """List the posts under their words: one statement for each shard that holds some of the words."""
        by_shard: dict[int, list[tuple[str, int, str, int]]] = {}
        for caption, revision in begun.values():
            for word in caption.words:
                entry = (word, caption.post_id, _joined(caption.words), revision)
                by_shard.setdefault(self._shards.of(KEY + word).number, []).append(entry)
        for number, entries in by_shard.items():
            await self._write(self._shards.shard(number), entries)

    async def _end(self, begun: Mapping[int, tuple["_NewCaption", int]]) -> set[int]:
        """Those of the posts whose runs are still the newest."""
        ended: set[int] = set()

        async def end(shard: Shard, own: list[tuple[_NewCaption, int]]) -> None:
            rows = await shard.fetch(
                QUERIES.end_captions,
                kind=KIND,
                subjects=[str(caption.post_id) for caption, _ in own],
                revisions=[revision for _, revision in own],
            )
            ended.update(int(row["subject"]) for row in rows)

        await run_by_shard(self._shards, begun.values(), lambda each: each[0].post_id, end)
        return ended

    async def _write(self, shard: Shard, entries: Sequence[tuple[str, int, str, int]]) -> None:
        """Write entries of one shard, and now and then remove what is too old to be listed under their words."""
        listed, posts, words, revisions = zip(*sorted(entries), strict=True)
        await shard.execute(
            QUERIES.put_caption_words,
            list=list(listed),
            posts=list(posts),
            words=list(words),
            revisions=list(revisions),
        )
        for word in dict.fromkeys(listed):
            if random.randrange(TRIM_ONE_IN) == 0:  # noqa: S311 - a schedule, not a secret
                await shard.execute(QUERIES.trim_caption_word, word=word, kept=MAX_LISTED)

    async def _run(self, post_id: PostId, author_id: AccountId, read: Read) -> None:
        async def write(key: str, revision: int, entries: Sequence[IndexEntry]) -> None:
            await self._put(key, post_id, revision, entries)

        subject = IndexedSubject(self._shards.owner(post_id), KIND, str(post_id), owner_id=author_id)
        await self._writer.run(subject, read, write)

    async def _put(self, key: str, post_id: PostId, revision: int, entries: Sequence[IndexEntry]) -> None:
        shard, word = self._shards.of(key), key.removeprefix(KEY)
        if entries:
            await self._write(shard, [(word, post_id, entries[0].words, revision)])
        else:
            await shard.execute(QUERIES.remove_caption_word, word=word, post_id=post_id, revision=revision)


class _NewCaption(msgspec.Struct, frozen=True):
    """A caption that is about to be listed."""

    post_id: PostId
    author_id: AccountId
    words: list[str]


def _words(row: asyncpg.Record) -> list[str]:
    """The words of a caption that everybody may read now."""
    return caption_words(row["caption"]) if is_public_post(row) else []


def _joined(words: Sequence[str]) -> str:
    """All words of a caption, as searches for several words filter them."""
    return "".join(f" {word}" for word in words)
