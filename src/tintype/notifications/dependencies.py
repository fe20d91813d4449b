"""What the parts of the notifications room share: connections, and the rooms they call."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.base.outbox import Outbox
from tintype.comments import Comments
from tintype.graph import Visibility
from tintype.posts import Posts
from tintype.stories import Stories


@dataclass(frozen=True)
class NotificationsDependencies:
    """Built once by the facade, and handed to every part of the room."""

    shards: Shards
    outbox: Outbox
    visibility: Visibility
    posts: Posts
    comments: Comments
    stories: Stories
