"""The home feed."""

from tintype.api.views.posts import PostsView
from tintype.ranking import Explanation


class FeedView(PostsView, frozen=True):
    """A page of the feed; with explanations of each post's rank, by post id, if they were requested."""

    explanations: dict[str, Explanation] | None = None
