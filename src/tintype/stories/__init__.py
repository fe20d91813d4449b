"""Stories: photos and clips that are shown for a day.

Owns, on the author's shard, `stories`, who saw them (`story_views`), `highlights` and their `highlight_items`; on the
viewer's shard what they have seen (`seen_stories`) and replied (`story_replies`). A story's time is in its id, made by
the server that stores it; the same server's clock decides when it has ended. Everything that ends lies in daily
partitions (docs/adr/0023).
"""

from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.errors import (
    HighlightEmpty,
    HighlightFull,
    HighlightNotFound,
    OwnStory,
    RepliesOff,
    StoryNotFound,
    TooManyStories,
)
from tintype.stories.events import StoryPublished, StoryReacted, StoryRemoved, StoryReplied, StorySeen
from tintype.stories.models import (
    LIFETIME,
    Highlight,
    HighlightChange,
    HighlightId,
    HighlightItem,
    HighlightItemId,
    Mention,
    NewStory,
    Reaction,
    ReplyId,
    Ring,
    Story,
    StoryAudience,
    StoryId,
    StoryReply,
    StoryViewer,
    Tray,
)
from tintype.stories.service import Stories
from tintype.stories.store import QUERIES
from tintype.stories.tray import FULL_AUTHORS

__all__ = [
    "FULL_AUTHORS",
    "LIFETIME",
    "QUERIES",
    "Highlight",
    "HighlightChange",
    "HighlightEmpty",
    "HighlightFull",
    "HighlightId",
    "HighlightItem",
    "HighlightItemId",
    "HighlightNotFound",
    "Mention",
    "NewStory",
    "OwnStory",
    "Reaction",
    "RepliesOff",
    "ReplyId",
    "Ring",
    "Stories",
    "StoriesDependencies",
    "Story",
    "StoryAudience",
    "StoryId",
    "StoryNotFound",
    "StoryPublished",
    "StoryReacted",
    "StoryRemoved",
    "StoryReplied",
    "StoryReply",
    "StorySeen",
    "StoryViewer",
    "TooManyStories",
    "Tray",
]
