"""Reading posts: whole ones from the cache, numbers beside them, and of both only what the viewer may see."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from shardwright.running import Transaction
from tintype.base.cache import Source
from tintype.base.counting import Buffered
from tintype.base.ids import AccountId, MediaId, PostId, has_shard
from tintype.graph import Seen
from tintype.posts.errors import PostNotFound
from tintype.posts.models import Counts, Page, Post
from tintype.posts.paging import fill_page
from tintype.posts.room import CARDS, COUNTS, QUERIES, AtDesk, Sources, read_counts, read_post


class Reading(AtDesk):
    """What others see of posts."""

    def sources(self) -> Sources:
        """Where the parts of posts come from, for a reader that checks by itself what its viewer may see."""
        return Sources(Source(CARDS, self._load_cards), Source(COUNTS, self._load_counts), self._desk.likes)

    async def get(self, post_id: PostId, *, viewer: AccountId | None) -> Post:
        """One post that the viewer may see."""
        found = await self.find_many([post_id], viewer=viewer, with_unshown=True)
        if post_id not in found:
            raise PostNotFound
        return found[post_id]

    async def find_many(
        self, ids: Iterable[PostId], *, viewer: AccountId | None, with_unshown: bool = False
    ) -> dict[PostId, Post]:
        """Those of the posts that the viewer may see, with numbers and whether the viewer likes them.

        What the viewer has archived, or a moderator has hidden, is among them only where it is asked for.
        """
        seen = await self._visible(ids, viewer)
        cards = {each: card for each, card in seen.items() if card.is_shown or with_unshown}
        if not cards:
            return {}
        counts, liked = await asyncio.gather(self._counts(cards), self.which_liked(viewer, cards))
        return {
            each: _for_viewer(card, counts.get(each), viewer, is_liked=each in liked)
            for each, card in cards.items()
        }

    async def find_of_seen(
        self, seen: Seen, viewer: AccountId | None, liked: Mapping[PostId, bool]
    ) -> dict[PostId, Post]:
        """Posts of one account whose content the caller knows may be seen, with the likes the caller has read."""
        cards = await self._cards(liked)
        counts = await self._counts(cards)
        return {
            each: _for_viewer(card, counts.get(each), viewer, is_liked=liked[each])
            for each, card in cards.items()
            if card.author_id == seen.account.id and card.is_shown
        }

    async def find_any(self, ids: Iterable[PostId]) -> dict[PostId, Post]:
        """Those of the posts that are not deleted, whoever may see them: for moderators and for the house itself."""
        cards = await self._cards(ids)
        counts = await self._counts(cards)
        return {each: _with_counts(card, counts.get(each)) for each, card in cards.items()}

    async def which_liked(self, viewer: AccountId | None, ids: Iterable[PostId]) -> set[PostId]:
        """Those of the posts that the viewer likes, from one query on the viewer's shard."""
        wanted = list(ids)
        if viewer is None or not wanted:
            return set()
        rows = await self._shards.owner(viewer).fetch(QUERIES.which_liked, account_id=viewer, post_ids=wanted)
        return {PostId(row["post_id"]) for row in rows}

    async def page_of_author(self, author_id: AccountId, *, before: int, limit: int) -> list[PostId]:
        """Ids of an author's posts that others may see, newest first."""
        rows = await self._shards.owner(author_id).fetch(
            QUERIES.page_of_author, author_id=author_id, before=before, limit=limit
        )
        return [PostId(row["id"]) for row in rows]

    async def popular(self, *, days: int, limit_each: int) -> list[tuple[PostId, int]]:
        """The posts of the last days with the most reactions, so many of every shard, with how many they have.

        This reads every shard: it is for repairs, not for a request.
        """
        found = await self._shards.everywhere().fetch(QUERIES.list_popular, days=days, limit=limit_each)
        return [(PostId(row["id"]), row["reactions"]) for row in found]

    async def page_archived(self, author: AccountId, *, before: int, limit: int) -> Page[Post]:
        """What an author has put away; nobody else sees it."""

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await self._shards.owner(author).fetch(
                QUERIES.page_archived, author_id=author, before=before, limit=limit
            )
            return [(PostId(row["id"]), row["id"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            return await self.find_many(ids, viewer=author, with_unshown=True)

        return await fill_page(fetch, show, before=before, limit=limit)

    async def page_tagged_in(
        self, account_id: AccountId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Post]:
        """The posts somebody is in, as far as the viewer may see both."""
        seen = await self._sight.get(viewer, account_id)
        if not seen.shows_content:
            return Page([], None)

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await self._shards.owner(account_id).fetch(
                QUERIES.page_tagged_in, account_id=account_id, before=before, limit=limit
            )
            return [(PostId(row["post_id"]), row["post_id"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            found = await self.find_many(ids, viewer=viewer)
            return {each: post for each, post in found.items() if account_id in post.tagged_ids}

        return await fill_page(fetch, show, before=before, limit=limit)

    async def forget(self, *ids: PostId) -> None:
        """Read these posts anew, numbers too: something about them was changed and committed."""
        await self._cache.forget(CARDS, *ids)
        await self.forget_counts(*ids)

    async def forget_pictures(self, media_ids: Sequence[MediaId]) -> None:
        """Read the posts anew that show these pictures or clips: a clip is ready, or a file is lost."""
        found = await self._shards.gather(QUERIES.gather_posts_of_media, list(media_ids))
        await self._cache.forget(CARDS, *(row["post_id"] for row in found.complete()))

    async def forget_counts(self, *ids: PostId) -> None:
        """Read the numbers of these posts anew."""
        await self._cache.forget(COUNTS, *ids)

    async def count_comments(self, tx: Transaction, post_id: PostId, *, delta: int) -> None:
        """Move a post's count together with the comments that the same transaction adds or removes."""
        await tx.execute(QUERIES.count_comments, post_id=post_id, delta=delta)

        async def forget(_server: str) -> None:
            await self.forget_counts(post_id)

        tx.after_commit(forget)

    async def _visible(self, ids: Iterable[PostId], viewer: AccountId | None) -> dict[PostId, Post]:
        cards = await self._cards(ids)
        authors = await self._sight.content_of(viewer, (card.author_id for card in cards.values()))
        return {
            each: card
            for each, card in cards.items()
            if card.author_id in authors and (card.is_shown or card.author_id == viewer)
        }

    async def _cards(self, ids: Iterable[PostId]) -> dict[PostId, Post]:
        known = [post_id for post_id in dict.fromkeys(ids) if has_shard(self._shards, post_id)]
        return await self._cache.get_many(CARDS, known, self._load_cards)

    async def _counts(self, ids: Iterable[PostId]) -> dict[PostId, Counts]:
        """Numbers with what is still buffered; the buffer is read first, see `HotCounts`."""
        wanted = list(ids)
        buffered = await self._desk.likes.buffered(wanted)
        stored = await self._cache.get_many(COUNTS, wanted, self._load_counts)
        return {each: _add(each, counts, buffered) for each, counts in stored.items()}

    async def _load_cards(self, ids: list[PostId]) -> dict[PostId, Post]:
        gathered = await self._shards.gather(QUERIES.gather_posts, ids)
        return {PostId(row["id"]): read_post(row) for row in gathered.complete()}

    async def _load_counts(self, ids: list[PostId]) -> dict[PostId, Counts]:
        gathered = await self._shards.gather(QUERIES.gather_counts, ids)
        return {PostId(row["id"]): read_counts(row) for row in gathered.complete()}


def _add(each: PostId, counts: Counts, buffered: Buffered) -> Counts:
    like_count = buffered.add_to(each, counts.like_count, counts.like_batch)
    return msgspec.structs.replace(counts, like_count=like_count)


def _with_counts(card: Post, counts: Counts | None) -> Post:
    if counts is None:
        return card
    return msgspec.structs.replace(card, like_count=counts.like_count, comment_count=counts.comment_count)


def _for_viewer(card: Post, counts: Counts | None, viewer: AccountId | None, *, is_liked: bool) -> Post:
    whole = _with_counts(card, counts)
    hides = card.hides_like_count and card.author_id != viewer
    return msgspec.structs.replace(
        whole, viewer_has_liked=is_liked, like_count=None if hides else whole.like_count
    )
