"""The home feed's fast path: plain requests are answered before the framework, from JSON fragments of cached posts.

`fast_path` decides whether a request is plain and answers it; the route in `routes/feed.py` answers all others with the
same renderer and the same headers, so that nobody can tell the two apart.
"""

from tintype.api.feed_fast_path.fast_path import PATH, FeedFastPath
from tintype.api.feed_fast_path.page_renderer import FeedPageRenderer
from tintype.api.feed_fast_path.response import PageResponse

__all__ = ["PATH", "FeedFastPath", "FeedPageRenderer", "PageResponse"]
