"""Errors of shardwright.

Every error that the library raises on purpose derives from `ShardwrightError`, so that callers can tell it
from an error of the driver or of PostgreSQL.
"""


class ShardwrightError(Exception):
    """Base class; the message says what to do about it."""


class InvalidId(ShardwrightError, ValueError):
    """That number or text is not an id of this layout."""


class EpochInvalid(ShardwrightError, ValueError):
    """That epoch would make ids collide with legacy ids or run out."""


class ServerUnavailable(ShardwrightError):
    """A server cannot be reached, or its circuit breaker is open after repeated failures."""


class MapChanged(ShardwrightError):
    """The shard map was changed by somebody else first: load it again and repeat the change."""


class NotOwner(ShardwrightError):
    """The server does not own the shard, even after the map was refreshed."""


class ShardKeyMissing(ShardwrightError):
    """A statement was sent without a shard: use `owner(id)`, `of(key)`, or `everywhere()` on purpose."""


class MigrationRefused(ShardwrightError):
    """A migration cannot be applied as it is; no part of it was applied on the shard named."""


class ShardsMoving(MigrationRefused):
    """Shards that a migration would change are being moved, or old copies of them are kept."""


class SetupInvalid(ShardwrightError):
    """Invalid configuration or arguments."""
