"""Stories: pictures and clips that are shown for a day.

Owns, with the author, `stories`, who saw them (`story_views`), `highlights` and their `highlight_items`; with the
viewer what they have seen (`seen_stories`) and answered (`story_replies`). A story's time is its id's, made by the
server that keeps it; the same server's clock decides when it has ended. Everything that ends lies in parts of a day
(docs/adr/0023).
"""

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
    Audience,
    Highlight,
    HighlightChange,
    HighlightId,
    Item,
    ItemId,
    Mention,
    NewStory,
    Reaction,
    Reply,
    ReplyId,
    Ring,
    Story,
    StoryId,
    Tray,
    View,
)
from tintype.stories.service import Stories
from tintype.stories.store import QUERIES

__all__ = [
    "QUERIES",
    "Audience",
    "Highlight",
    "HighlightChange",
    "HighlightEmpty",
    "HighlightFull",
    "HighlightId",
    "HighlightNotFound",
    "Item",
    "ItemId",
    "Mention",
    "NewStory",
    "OwnStory",
    "Reaction",
    "RepliesOff",
    "Reply",
    "ReplyId",
    "Ring",
    "Stories",
    "Story",
    "StoryId",
    "StoryNotFound",
    "StoryPublished",
    "StoryReacted",
    "StoryRemoved",
    "StoryReplied",
    "StorySeen",
    "TooManyStories",
    "Tray",
    "View",
]
