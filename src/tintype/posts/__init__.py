"""Posts: what people share, and the likes it gets.

Owns posts, their media order and likes, all on the author's shard.
"""

from tintype.posts.errors import CaptionTooLong, MediaInvalid, PostNotFound
from tintype.posts.events import PostEdited, PostLiked, PostPublished, PostRemoved
from tintype.posts.models import Post, PostMedia
from tintype.posts.service import QUERIES, Posts

__all__ = [
    "QUERIES",
    "CaptionTooLong",
    "MediaInvalid",
    "Post",
    "PostEdited",
    "PostLiked",
    "PostMedia",
    "PostNotFound",
    "PostPublished",
    "PostRemoved",
    "Posts",
]
