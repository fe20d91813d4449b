"""Posts and stories that messages share: who may see one is decided for each reader, each time it is read."""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from tintype.base.ids import AccountId, PostId
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.models import Draft, SharedPost
from tintype.stories import Story, StoryId

STORY_KINDS = frozenset({"story", "story_reply"})


@dataclass(frozen=True)
class SharedContent:
    """What of the posts and stories in some messages one reader may see now."""

    posts: dict[int, SharedPost]
    stories: dict[int, Story]


NOTHING_SHARED = SharedContent({}, {})


async def load_shared(
    deps: DirectDependencies, reader: AccountId, rows: Sequence[asyncpg.Record]
) -> SharedContent:
    """The posts and stories of these messages that the reader may see; others are missing, whatever the reason."""
    post_ids = {PostId(row["shared_id"]) for row in rows if row["kind"] == "post"}
    story_ids = {StoryId(row["shared_id"]) for row in rows if row["kind"] in STORY_KINDS}
    stories = await deps.stories.find_many(story_ids, viewer=reader) if story_ids else {}
    posts = await deps.posts.find_many(post_ids, viewer=reader) if post_ids else {}
    authors = await deps.visibility.find_accounts(reader, {each.author_id for each in posts.values()})
    return SharedContent(
        {
            each: SharedPost(post, authors[post.author_id])
            for each, post in posts.items()
            if post.author_id in authors
        },
        {**stories},
    )


async def check_may_share(deps: DirectDependencies, by: AccountId, draft: Draft) -> None:
    """Refuse to share what whoever shares it may not see."""
    if draft.post_id is not None:
        await deps.posts.check_visible(draft.post_id, viewer=by)
    if draft.story_id is not None:
        await deps.stories.get(draft.story_id, viewer=by)
