"""What the posts room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class PostPublished(Event, frozen=True):
    """A post can now be seen."""

    post_id: PostId
    author_id: AccountId
