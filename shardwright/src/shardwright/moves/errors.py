"""How moves fail."""

from shardwright.errors import ShardwrightError


class MoveRefused(ShardwrightError):
    """The move cannot be started or changed like this; nothing was changed."""


class MoveFailed(ShardwrightError):
    """The move stopped; its shards have their owner, or will have it again once the move is resumed."""
