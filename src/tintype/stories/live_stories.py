"""Live stories as a viewer may see them.

Whether a story is live and who its author's close friends are is read from the story's own shard every time, never
from a cache that could outlive it. Whether the viewer may see the author's stories at all, `Visibility` decides.
"""

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence

import asyncpg

from tintype.base.ids import AccountId, PostId, has_shard
from tintype.graph import VisibleAccount
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import Countdown, Element, find_element, shared_post_ids
from tintype.stories.errors import StoryNotFound
from tintype.stories.models import SharedPost, Story, StoryId
from tintype.stories.shared_posts import SharedPosts
from tintype.stories.store import (
    QUERIES,
    is_visible,
    mention_ids,
    read_elements,
    read_media,
    read_mentions,
)

NOBODY_KNOWN: Mapping[AccountId, VisibleAccount] = {}
GUEST_ID = 0
"""Stands for a guest where a query needs a viewer's id; no account has it."""


class LiveStories:
    """Reads stories that have not ended."""

    def __init__(self, deps: StoriesDependencies, shared_posts: SharedPosts) -> None:
        self._shards, self._visibility, self._shared_posts = deps.shards, deps.visibility, shared_posts

    async def get(self, story_id: StoryId, *, viewer: AccountId | None) -> Story:
        """One story; one that has ended or may not be seen is refused like one that never existed."""
        found = (await self.find_many([story_id], viewer=viewer)).get(story_id)
        if found is None:
            raise StoryNotFound
        return found

    async def list_of_account(
        self, author_id: AccountId, *, viewer: AccountId | None
    ) -> tuple[VisibleAccount, list[Story]]:
        """An author's live stories, oldest first; none where only followers may see them and the viewer is not one."""
        author = await self._visibility.get_account(viewer, author_id)
        if not author.shows_content:
            return author, []
        rows = await self._shards.owner(author_id).fetch(QUERIES.list_live, author_id=author_id)
        found = await self.find_many((StoryId(row["id"]) for row in rows), viewer=viewer)
        return author, list(found.values())

    async def find_many(
        self,
        ids: Iterable[StoryId],
        *,
        viewer: AccountId | None,
        known: Mapping[AccountId, VisibleAccount] = NOBODY_KNOWN,
        seen: Container[int] | None = None,
    ) -> dict[StoryId, Story]:
        """Those of the stories that are live and that the viewer may see, oldest first.

        Accounts in `known` and story ids in `seen` were read by the caller just now, and are not read again.
        """
        wanted = [each for each in set(ids) if has_shard(self._shards, each)]
        if not wanted:
            return {}
        gathered = await self._shards.gather(QUERIES.gather_stories, wanted, viewer_id=viewer or GUEST_ID)
        rows = [row for row in gathered.rows if is_visible(row, viewer)]
        if seen is None:
            seen, people = await asyncio.gather(
                self.which_seen(viewer, wanted), self._find_people(viewer, rows, known)
            )
        else:
            people = await self._find_people(viewer, rows, known)
        shown = [row for row in rows if row["author_id"] in people and people[row["author_id"]].shows_content]
        elements = {row["id"]: read_elements(row) for row in shown}
        posts, reminded = await self._find_behind_stickers(viewer, elements)
        found = [
            _story(
                row,
                people,
                elements[row["id"]],
                viewer=viewer,
                is_seen=row["id"] in seen or row["author_id"] == viewer,
                posts=posts,
                is_reminded=row["id"] in reminded,
            )
            for row in shown
        ]
        return {story.id: story for story in sorted(found, key=lambda story: story.id)}

    async def _find_behind_stickers(
        self, viewer: AccountId | None, elements: Mapping[StoryId, Sequence[Element]]
    ) -> tuple[dict[PostId, SharedPost], set[StoryId]]:
        """The posts on cards that the viewer may see, and the stories whose countdown they are notified of."""
        post_ids = {each for some in elements.values() for each in shared_post_ids(some)}
        posts = await self._shared_posts.find(post_ids, viewer=viewer) if post_ids else {}
        counting = [each for each, some in elements.items() if find_element(some, Countdown)]
        if viewer is None or not counting:
            return posts, set()
        rows = await self._shards.owner(viewer).fetch(QUERIES.which_reminded, account_id=viewer, ids=counting)
        return posts, {StoryId(row["story_id"]) for row in rows}

    async def which_seen(self, viewer: AccountId | None, ids: Sequence[StoryId]) -> set[StoryId]:
        """Those of the stories that the viewer has seen, from the viewer's shard."""
        if viewer is None or not ids:
            return set()
        rows = await self._shards.owner(viewer).fetch(QUERIES.which_seen, viewer_id=viewer, ids=list(ids))
        return {StoryId(row["story_id"]) for row in rows}

    async def seen_since(self, viewer: AccountId, first_id: int) -> set[int]:
        """The stories from this id on that the viewer has seen."""
        return set(
            await self._shards.owner(viewer).fetch_value(
                QUERIES.seen_since, viewer_id=viewer, first_id=first_id
            )
        )

    async def _find_people(
        self,
        viewer: AccountId | None,
        rows: Sequence[asyncpg.Record],
        known: Mapping[AccountId, VisibleAccount],
    ) -> dict[AccountId, VisibleAccount]:
        """Authors and people mentioned, as far as the viewer may know of them."""
        authors = {AccountId(row["author_id"]) for row in rows}
        mentioned = {each for row in rows for each in mention_ids(row)}
        unknown = (authors | mentioned) - known.keys()
        return {**known, **(await self._visibility.find_accounts(viewer, unknown) if unknown else {})}


def _story(
    row: asyncpg.Record,
    people: Mapping[AccountId, VisibleAccount],
    elements: tuple[Element, ...],
    *,
    viewer: AccountId | None,
    is_seen: bool,
    posts: Mapping[PostId, SharedPost],
    is_reminded: bool,
) -> Story:
    shows_counts = row["poll_counts"] is not None and (
        row["author_id"] == viewer or row["choice"] is not None
    )
    return Story(
        id=StoryId(row["id"]),
        author=people[row["author_id"]],
        media=read_media(row),
        audience=row["audience"],
        text=row["text"],
        mentions=read_mentions(row["mentions"]),
        people={each: people[each].account for each in mention_ids(row) if each in people},
        elements=elements,
        posts={each: posts[each] for each in shared_post_ids(elements) if each in posts},
        poll_counts=tuple(row["poll_counts"]) if shows_counts else None,
        choice=row["choice"],
        answer=row["answer"],
        is_reminded=is_reminded,
        replies_enabled=row["replies_enabled"],
        ttl_s=row["ttl_s"],
        is_seen=is_seen,
        is_hidden=row["is_hidden"],
        reaction=row["reaction"],
        view_count=row["view_count"],
        reaction_count=row["reaction_count"],
    )
