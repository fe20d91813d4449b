"""Posts: what people share, and the likes it gets.

Owns posts, the order of their media, tags and likes, all on the author's shard; and on each person's own shard what
they like (`own_likes`) and the posts they are tagged in (`tagged_in`). `ProfileReader` reads a profile from one shard.
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
    TagsInvalid,
    TooManyPosts,
)
from tintype.posts.events import PostEdited, PostLiked, PostPublished, PostPurged, PostRemoved
from tintype.posts.models import (
    PersonTag,
    Place,
    Post,
    PostChanges,
    PostCounts,
    PostMedia,
    PostMediaChanges,
    Span,
)
from tintype.posts.post_cache import PostSources
from tintype.posts.profile_reader import Profile, ProfileReader
from tintype.posts.publish import PublishedPost
from tintype.posts.service import Posts
from tintype.posts.store import QUERIES
from tintype.posts.validation import make_draft

__all__ = [
    "COMMENT_COUNT",
    "QUERIES",
    "AltTextInvalid",
    "CaptionTooLong",
    "IdempotencyKeyReused",
    "MediaInvalid",
    "NotYourPost",
    "PersonTag",
    "Place",
    "Post",
    "PostChanges",
    "PostCounts",
    "PostEdited",
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
    "Profile",
    "ProfileReader",
    "PublishedPost",
    "Span",
    "TagsInvalid",
    "TooManyPosts",
    "make_draft",
]
