"""Living stories as a viewer may see them.

Whether a story lives and who its author's close friends are is asked of the shard that keeps it, every time: nothing
that could outlive it stands between. Whether the viewer may see the author's stories at all, `Sight` decides.
"""

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence

import asyncpg

from tintype.accounts import Account
from tintype.base.ids import AccountId, has_shard
from tintype.graph import Seen
from tintype.stories.errors import StoryNotFound
from tintype.stories.models import Story, StoryId
from tintype.stories.store import QUERIES, AtDesk, mention_ids, read_media, read_mentions

NOBODY_KNOWN: Mapping[AccountId, Seen] = {}
NOBODY = 0
"""Stands for a guest where a viewer's id is asked for; no account has it."""


class Reading(AtDesk):
    """Finds stories."""

    async def get(self, story_id: StoryId, *, viewer: AccountId | None) -> Story:
        """One story, or the refusal that a missing one gets."""
        found = (await self.find_many([story_id], viewer=viewer)).get(story_id)
        if found is None:
            raise StoryNotFound
        return found

    async def of_account(self, author_id: AccountId, *, viewer: AccountId | None) -> tuple[Seen, list[Story]]:
        """What somebody shows, oldest first; of a private account to its followers alone."""
        author = await self._sight.get(viewer, author_id)
        if not author.shows_content:
            return author, []
        rows = await self._shards.owner(author_id).fetch(
            QUERIES.list_live, author_id=author_id, viewer_id=viewer or NOBODY
        )
        found = await self.find_many((StoryId(row["id"]) for row in rows), viewer=viewer)
        return author, list(found.values())

    async def find_many(
        self,
        ids: Iterable[StoryId],
        *,
        viewer: AccountId | None,
        known: Mapping[AccountId, Seen] = NOBODY_KNOWN,
        seen: Container[int] | None = None,
    ) -> dict[StoryId, Story]:
        """Those of the stories that live and that the viewer may see, oldest first.

        Whom the caller has just looked at (`known`) and what the viewer has seen is not asked for again.
        """
        wanted = [each for each in set(ids) if has_shard(self._shards, each)]
        if not wanted:
            return {}
        rows = (await self._shards.gather(QUERIES.gather_stories, wanted, viewer_id=viewer or NOBODY)).rows
        if seen is None:
            seen, people = await asyncio.gather(
                self.which_seen(viewer, wanted), self._people(viewer, rows, known)
            )
        else:
            people = await self._people(viewer, rows, known)
        authors = {each: one for each, one in people.items() if one.shows_content}
        accounts = {each: one.account for each, one in people.items()}
        found = [
            _story(row, authors, accounts, is_seen=row["id"] in seen or row["author_id"] == viewer)
            for row in rows
            if row["author_id"] in authors
        ]
        return {story.id: story for story in sorted(found, key=lambda story: story.id)}

    async def which_seen(self, viewer: AccountId | None, ids: Sequence[StoryId]) -> set[StoryId]:
        """Those of the stories that the viewer has seen, from the viewer's shard."""
        if viewer is None or not ids:
            return set()
        rows = await self._shards.owner(viewer).fetch(QUERIES.which_seen, viewer_id=viewer, ids=list(ids))
        return {StoryId(row["story_id"]) for row in rows}

    async def seen_since(self, viewer: AccountId, first_id: int) -> set[int]:
        """What the viewer has seen of the stories from this id on."""
        return set(
            await self._shards.owner(viewer).fetch_value(
                QUERIES.seen_since, viewer_id=viewer, first_id=first_id
            )
        )

    async def _people(
        self, viewer: AccountId | None, rows: Sequence[asyncpg.Record], known: Mapping[AccountId, Seen]
    ) -> dict[AccountId, Seen]:
        authors = {AccountId(row["author_id"]) for row in rows}
        mentioned = {each for row in rows for each in mention_ids(row["mentions"])}
        unknown = (authors | mentioned) - known.keys()
        return {**known, **(await self._sight.of(viewer, unknown) if unknown else {})}


def _story(
    row: asyncpg.Record,
    authors: Mapping[AccountId, Seen],
    accounts: Mapping[AccountId, Account],
    *,
    is_seen: bool,
) -> Story:
    mentions = read_mentions(row["mentions"])
    return Story(
        id=StoryId(row["id"]),
        author=authors[row["author_id"]],
        media=read_media(row),
        audience=row["audience"],
        text=row["text"],
        mentions=mentions,
        people={
            each.account_id: accounts[each.account_id] for each in mentions if each.account_id in accounts
        },
        replies_enabled=row["replies_enabled"],
        ttl_s=row["ttl_s"],
        is_seen=is_seen,
        is_hidden=row["is_hidden"],
        reaction=row["reaction"],
        view_count=row["view_count"],
        reaction_count=row["reaction_count"],
    )
