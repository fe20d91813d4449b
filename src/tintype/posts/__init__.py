"""Posts: what people share, and the likes it gets.

Owns posts, their media order, tags and likes, all on the author's shard; and with each person what they like
(`own_likes`) and the posts they are in (`tagged_in`). `Profiles` reads a profile from one shard.
"""

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
from tintype.posts.models import Counts, Edit, ItemEdit, Page, Place, Post, PostMedia, Span, Tagged
from tintype.posts.names import Names
from tintype.posts.paging import fill_page
from tintype.posts.profiles import Profile, Profiles
from tintype.posts.room import QUERIES, Desk, MediaShelf, Rules, Sources
from tintype.posts.service import Posts
from tintype.posts.words import clean, find_hashtags, find_mentions, tag_key

__all__ = [
    "QUERIES",
    "AltTextInvalid",
    "CaptionTooLong",
    "Counts",
    "Desk",
    "Edit",
    "IdempotencyKeyReused",
    "ItemEdit",
    "MediaInvalid",
    "MediaShelf",
    "Names",
    "NotYourPost",
    "Page",
    "Place",
    "Post",
    "PostEdited",
    "PostLiked",
    "PostMedia",
    "PostNotFound",
    "PostPublished",
    "PostPurged",
    "PostRemoved",
    "Posts",
    "Profile",
    "Profiles",
    "Rules",
    "Sources",
    "Span",
    "Tagged",
    "TagsInvalid",
    "TooManyPosts",
    "clean",
    "fill_page",
    "find_hashtags",
    "find_mentions",
    "tag_key",
]
