"""What moderators do to stories. A story ends after a day; its copies in highlights stay, and so must a decision."""

from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.stories.countdowns import cancel_countdown, set_countdown
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import words_of
from tintype.stories.errors import StoryNotFound
from tintype.stories.events import StoryRemoved
from tintype.stories.highlights import Highlights
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import HighlightId, HighlightItem, Story, StoryId
from tintype.stories.store import QUERIES, mention_ids, read_elements


class Moderate:
    """Shows moderators a story, hides it, restores it or deletes it, together with its copies in highlights."""

    def __init__(self, deps: StoriesDependencies, live: LiveStories, highlights: Highlights) -> None:
        self._deps, self._live, self._highlights = deps, live, highlights
        self._shards, self._outbox = deps.shards, deps.outbox

    async def inspect(self, story_id: StoryId, *, viewer: AccountId) -> tuple[AccountId, str, str]:
        """The author, the text and the media folder of a live story, or else of its copy in a highlight."""
        found = (await self._live.find_many([story_id], viewer=viewer)).get(story_id)
        if found is not None:
            return found.author_id, _words(found), found.media.folder
        if not has_shard(self._shards, story_id):
            raise StoryNotFound
        copy = await self._shards.owner(story_id).fetch_one(QUERIES.find_copy, story_id=story_id)
        if copy is None:
            raise StoryNotFound
        highlight = await self._highlights.get(HighlightId(copy["id"]), viewer=viewer)
        for item in highlight.items:
            if item.story_id == story_id:
                return highlight.owner.account.id, _words(item), item.media.folder
        raise StoryNotFound

    async def hide(self, story_id: StoryId) -> None:
        """Only the author sees the story and its copies."""
        await self._set_hidden(story_id, is_hidden=True)

    async def restore(self, story_id: StoryId) -> None:
        """The story is visible again for the rest of its day, and so are its copies."""
        await self._set_hidden(story_id, is_hidden=False)

    async def delete_with_copies(self, story_id: StoryId) -> None:
        """The story, every copy of it in a highlight, and its media are deleted for good."""
        author_id = await self._find_author(story_id)
        async with self._shards.owner(story_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_owner, author_id=author_id)
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            copies = await tx.fetch(QUERIES.delete_copies, story_id=story_id)
            await tx.execute(QUERIES.delete_empty_highlights, account_id=author_id)
            media_ids = {MediaId(each["media_id"]) for each in (*copies, *([row] if row else []))}
            await self._deps.media.delete_in(tx, sorted(media_ids))
            change_id = await tx.fetch_value(QUERIES.remove_story, story_id=story_id)
            await cancel_countdown(tx, story_id)
            if row is not None and change_id is not None:
                mentioned = mention_ids(row)
                await self._outbox.add(tx, StoryRemoved(story_id, author_id, change_id, mentioned))
        await self._deps.author_stories.invalidate(author_id)

    async def _set_hidden(self, story_id: StoryId, *, is_hidden: bool) -> None:
        author_id = await self._find_author(story_id)
        async with self._shards.owner(story_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_story, story_id=story_id)
            copies = await tx.fetch(QUERIES.set_copies_hidden, story_id=story_id, is_hidden=is_hidden)
            media_ids = {MediaId(each["media_id"]) for each in (*copies, *([row] if row else []))}
            await self._deps.media.change_visibility(tx, sorted(media_ids))
            change_id = await tx.fetch_value(QUERIES.set_hidden, story_id=story_id, is_hidden=is_hidden)
            if is_hidden:
                await cancel_countdown(tx, story_id)
            elif row is not None and row["removed_at"] is None:
                await set_countdown(tx, story_id, author_id, read_elements(row))
            if row is not None and change_id is not None:
                mentioned = mention_ids(row)
                event = StoryRemoved(story_id, author_id, change_id, mentioned, is_back=not is_hidden)
                await self._outbox.add(tx, event)
        await self._deps.author_stories.invalidate(author_id)

    async def _find_author(self, story_id: StoryId) -> AccountId:
        """The author of a story, or of the highlight that still holds a copy of it."""
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


def _words(story: Story | HighlightItem) -> str:
    """Everything that the author wrote: the text below the picture, and the texts on it."""
    return "\n".join(each for each in (story.text, *words_of(story.elements)) if each)
