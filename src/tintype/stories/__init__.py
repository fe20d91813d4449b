"""Stories: photos and clips that are shown for a day.

Owns, on the author's shard, `stories`, who saw them, voted and answered (`story_views`), `story_countdowns`,
`highlights` and their `highlight_items`; on the viewer's shard what they have seen (`seen_stories`), replied
(`story_replies`) and want to be reminded of (`story_reminders`). A story's time is in its id, made by
the server that stores it; the same server's clock decides when it has ended. Everything that ends lies in daily
partitions (docs/adr/0023).
"""

from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import (
    Countdown,
    Drawing,
    Element,
    MentionSticker,
    Placement,
    PlaceSticker,
    Poll,
    PostSticker,
    Question,
    Stroke,
    TextElement,
    Tone,
)
from tintype.stories.errors import (
    HighlightEmpty,
    HighlightFull,
    HighlightNotFound,
    OwnStory,
    RepliesOff,
    StoryNotFound,
    TooManyStories,
)
from tintype.stories.events import (
    CountdownEnded,
    StoryAnswered,
    StoryPublished,
    StoryReacted,
    StoryRemoved,
    StoryReplied,
    StorySeen,
)
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
    SharedPost,
    Story,
    StoryAnswer,
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
    "Countdown",
    "CountdownEnded",
    "Drawing",
    "Element",
    "Highlight",
    "HighlightChange",
    "HighlightEmpty",
    "HighlightFull",
    "HighlightId",
    "HighlightItem",
    "HighlightItemId",
    "HighlightNotFound",
    "Mention",
    "MentionSticker",
    "NewStory",
    "OwnStory",
    "PlaceSticker",
    "Placement",
    "Poll",
    "PostSticker",
    "Question",
    "Reaction",
    "RepliesOff",
    "ReplyId",
    "Ring",
    "SharedPost",
    "Stories",
    "StoriesDependencies",
    "Story",
    "StoryAnswer",
    "StoryAnswered",
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
    "Stroke",
    "TextElement",
    "Tone",
    "TooManyStories",
    "Tray",
]
