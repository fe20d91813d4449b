"""Posts: what people share, and the likes it gets.

Owns posts, the order of their media, tags, likes and scheduled posts, all on the author's shard; and on each person's
own shard what they like (`own_likes`) and the posts they are tagged in (`tagged_in`). `ProfileReader` reads a profile
from one shard.
"""

from tintype.posts.counters import COMMENT_COUNT
from tintype.posts.dependencies import PostsDependencies, PostsSettings
from tintype.posts.errors import (
    AltTextInvalid,
    CaptionTooLong,
    IdempotencyKeyReused,
    MediaInvalid,
    NotYourPost,
    PostNotFound,
    ScheduledPostNotFound,
    TagsInvalid,
    TooManyPosts,
)
from tintype.posts.events import PostEdited, PostImported, PostLiked, PostPublished, PostPurged, PostRemoved
from tintype.posts.models import (
    MAX_ALT_TEXT_LENGTH,
    MAX_CAPTION_LENGTH,
    MAX_MEDIA,
    DraftMedia,
    ImportedPost,
    ListedPost,
    PersonTag,
    Place,
    Post,
    PostChanges,
    PostCounts,
    PostDraft,
    PostMedia,
    PostMediaChanges,
    Span,
    as_seen,
)
from tintype.posts.post_cache import PostSources
from tintype.posts.profile_reader import Profile, ProfileReader
from tintype.posts.publish import PublishedPost
from tintype.posts.scheduled_post import Problem, ScheduleChanges, ScheduledPost
from tintype.posts.service import Posts
from tintype.posts.store import QUERIES
from tintype.posts.validation import make_draft

__all__ = [
    "COMMENT_COUNT",
    "MAX_ALT_TEXT_LENGTH",
    "MAX_CAPTION_LENGTH",
    "MAX_MEDIA",
    "QUERIES",
    "AltTextInvalid",
    "CaptionTooLong",
    "DraftMedia",
    "IdempotencyKeyReused",
    "ImportedPost",
    "ListedPost",
    "MediaInvalid",
    "NotYourPost",
    "PersonTag",
    "Place",
    "Post",
    "PostChanges",
    "PostCounts",
    "PostDraft",
    "PostEdited",
    "PostImported",
    "PostLiked",
    "PostMedia",
    "PostMediaChanges",
    "PostNotFound",
    "PostPublished",
    "PostPurged",
    "PostRemoved",
    "PostSources",
    "Posts",
    "PostsDependencies",
    "PostsSettings",
    "Problem",
    "Profile",
    "ProfileReader",
    "PublishedPost",
    "ScheduleChanges",
    "ScheduledPost",
    "ScheduledPostNotFound",
    "Span",
    "TagsInvalid",
    "TooManyPosts",
    "as_seen",
    "make_draft",
]
