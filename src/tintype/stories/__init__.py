"""Stories: pictures and clips that are shown for a day."""

from tintype.stories.service import QUERIES, Stories

__all__ = ["QUERIES", "Stories"]
