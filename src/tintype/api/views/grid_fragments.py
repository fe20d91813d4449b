"""JSON fragments of the squares of a profile's grid: what is the same for every viewer is rendered once.

Rendered by `show_grid_post`, cut where the counts and the viewer's like stand, and good as long as the post and the
privacy of its author stay the same. Filled in, the bytes are those that `GridPostView` would have given.
"""

from dataclasses import dataclass

import msgspec

from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.api.views.media import needs_signed_urls
from tintype.api.views.posts import show_grid_post
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import PostId
from tintype.posts import ListedPost, Post

MAX_FRAGMENTS = 20_000
LIKES, COMMENTS, REST, LIKED = (
    b',"like_count":',
    b',"comment_count":',
    b',"is_pinned":',
    b',"viewer_has_liked":',
)
"""Where the JSON is cut. No text in it can contain these: in a JSON string quotes are escaped."""


@dataclass(slots=True, frozen=True)
class _Fragment:
    """A square without counts and the viewer's like, and what it was rendered from."""

    post: Post
    signature_expiry: int
    """When the signed URLs in it change; zero where none is signed."""
    body: bytes
    """The JSON as a format string, for the number of likes, the number of comments, and the viewer's like."""


class GridFragments:
    """Renders posts as squares of a grid; one per process."""

    def __init__(self) -> None:
        self._fragments = BoundedMap[PostId, _Fragment](MAX_FRAGMENTS)

    def render(self, listed: ListedPost, author: Account, context: ViewContext) -> msgspec.Raw:
        """The JSON of a listed post as its viewer sees it."""
        post = listed.cached_post
        expiry = context.urls.signature_expiry() if needs_signed_urls(author) else 0
        fragment = self._fragments.get(post.id)
        if fragment is None or fragment.post is not post or fragment.signature_expiry != expiry:
            fragment = self._fragments[post.id] = _Fragment(post, expiry, _cut(post, author, context))
        likes = b"null" if listed.like_count is None else b"%d" % listed.like_count
        liked = b"true" if listed.has_liked else b"false"
        return msgspec.Raw(fragment.body % (likes, listed.comment_count, liked))


def _cut(post: Post, author: Account, context: ViewContext) -> bytes:
    whole = msgspec.json.encode(show_grid_post(post, author, context)).replace(b"%", b"%%")
    head, rest = whole.split(LIKES, 1)
    middle = rest[rest.index(REST) : rest.rindex(LIKED)]
    return head + LIKES + b"%b" + COMMENTS + b"%d" + middle + LIKED + b"%b}"
