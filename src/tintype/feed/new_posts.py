"""Which posts have just been published.

New posts of followees that the reader has not seen are on top of the feed, whatever their rank. The reader's own posts
are in the feed only while they are new: they confirm that publishing worked, and then leave their places to others.
"""

from datetime import UTC, datetime, timedelta

from shardwright.ids import Layout

NEW_FOR = timedelta(minutes=30)


def new_from(layout: Layout, now: datetime | None = None) -> int:
    """The smallest id of a post that is new."""
    return layout.min_id_at((now or datetime.now(UTC)) - NEW_FOR)
