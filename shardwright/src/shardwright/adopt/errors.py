"""How adoptions fail."""

from shardwright.errors import ShardwrightError


class AdoptRefused(ShardwrightError):
    """The adoption cannot be started or changed like this; nothing was changed."""


class AdoptFailed(ShardwrightError):
    """The adoption stopped; the old database or the shards own the rows, or will again once it is resumed."""
