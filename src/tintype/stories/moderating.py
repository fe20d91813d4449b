"""What moderators do to stories: they live for a day, but their copies in highlights stay, and so does a decision."""

from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.stories.errors import StoryNotFound
from tintype.stories.events import StoryRemoved
from tintype.stories.highlights import Highlights
from tintype.stories.models import HighlightId, StoryId
from tintype.stories.reading import Reading
from tintype.stories.store import QUERIES, AtDesk, Desk, mention_ids


class Moderating(AtDesk):
    """Looks at stories, and takes them and their copies out of sight."""

    def __init__(self, desk: Desk, reading: Reading, highlights: Highlights) -> None:
        super().__init__(desk)
        self._reading, self._highlights = reading, highlights

    async def look(self, story_id: StoryId, *, viewer: AccountId) -> tuple[AccountId, str, str]:
        """Whose it is, its words and the folder of its picture: of the story, or else of a copy."""
        found = (await self._reading.find_many([story_id], viewer=viewer)).get(story_id)
        if found is not None:
            return found.author_id, found.text, found.media.folder
        if not has_shard(self._shards, story_id):
            raise StoryNotFound
        copy = await self._shards.owner(story_id).fetch_one(QUERIES.find_copy, story_id=story_id)
        if copy is None:
            raise StoryNotFound
        highlight = await self._highlights.get(HighlightId(copy["id"]), viewer=viewer)
        for item in highlight.items:
            if item.story_id == story_id:
                return highlight.owner.account.id, item.text, item.media.folder
        raise StoryNotFound

    async def hide(self, story_id: StoryId) -> None:
        """Out of everybody's sight but the author's."""
        await self._turn(story_id, is_hidden=True)

    async def restore(self, story_id: StoryId) -> None:
        """In sight again, for the rest of its day."""
        await self._turn(story_id, is_hidden=False)

    async def drop(self, story_id: StoryId) -> None:
        """Gone for good, with every copy and the picture."""
        author_id = await self._author_of(story_id)
        async with self._shards.owner(story_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_owner, author_id=author_id)
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            copies = await tx.fetch(QUERIES.drop_copies, story_id=story_id)
            await tx.execute(QUERIES.drop_empty_highlights, account_id=author_id)
            pictures = {MediaId(each["media_id"]) for each in (*copies, *([row] if row else []))}
            await self._desk.media.delete_in(tx, sorted(pictures))
            change_id = await tx.fetch_value(QUERIES.remove_story, story_id=story_id)
            if row is not None and change_id is not None:
                mentioned = mention_ids(row["mentions"])
                await self._outbox.add(tx, StoryRemoved(story_id, author_id, change_id, mentioned))
        await self._desk.rings.forget(author_id)

    async def _turn(self, story_id: StoryId, *, is_hidden: bool) -> None:
        author_id = await self._author_of(story_id)
        async with self._shards.owner(story_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            await tx.execute(QUERIES.turn_items, story_id=story_id, is_hidden=is_hidden)
            change_id = await tx.fetch_value(QUERIES.turn_story, story_id=story_id, is_hidden=is_hidden)
            if row is not None and change_id is not None:
                mentioned = mention_ids(row["mentions"])
                event = StoryRemoved(story_id, author_id, change_id, mentioned, is_back=not is_hidden)
                await self._outbox.add(tx, event)
        await self._desk.rings.forget(author_id)

    async def _author_of(self, story_id: StoryId) -> AccountId:
        if not has_shard(self._shards, story_id):
            raise StoryNotFound
        shard = self._shards.owner(story_id)
        author_id = await shard.fetch_value(QUERIES.find_author, story_id=story_id)
        if author_id is None:
            copy = await shard.fetch_one(QUERIES.find_copy, story_id=story_id)
            author_id = copy["account_id"] if copy else None
        if author_id is None:
            raise StoryNotFound
        return AccountId(author_id)
