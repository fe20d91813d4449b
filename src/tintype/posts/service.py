"""The posts room as others see it: one class whose methods are verbs, put together from its parts."""

from tintype.base.jobs import Handler, Schedule, on
from tintype.posts.events import PostEdited, PostLiked, PostPublished, PostRemoved
from tintype.posts.keeping import Keeping

FLUSH_EVERY_S = 2.0
PURGE_EVERY_S = 3_600.0


class Posts(Keeping):
    """Posts and their likes."""

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [
            on(PostPublished, self.mirror_published, name="posts-published"),
            on(PostEdited, self.mirror_edited, name="posts-edited"),
            on(PostRemoved, self.mirror_removed, name="posts-removed"),
            on(PostLiked, self.handle_liked, name="posts-liked"),
        ]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [
            Schedule("posts-flush-likes", FLUSH_EVERY_S, self.flush_likes),
            Schedule("posts-purge", PURGE_EVERY_S, self.purge_deleted),
        ]
