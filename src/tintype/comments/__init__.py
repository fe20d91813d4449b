"""Comments: threads under posts, and the likes they get. They live with the post, on its author's shard."""

from tintype.comments.events import CommentAdded, CommentLiked, CommentRemoved
from tintype.comments.service import QUERIES, Comments

__all__ = ["QUERIES", "CommentAdded", "CommentLiked", "CommentRemoved", "Comments"]
