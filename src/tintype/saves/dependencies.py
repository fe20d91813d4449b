"""What the parts of the saves room share."""

from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.outbox import Outbox
from tintype.posts import Posts
from tintype.redis.viewer_invalidation import ViewerInvalidation


@dataclass(frozen=True)
class SavesDependencies:
    """The rooms and engines that saves are built on."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    posts: Posts
    viewer_invalidation: ViewerInvalidation
